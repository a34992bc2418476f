"""Webhooks: signing what is posted to an address, and posting it."""
