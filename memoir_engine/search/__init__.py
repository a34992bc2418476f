"""Passages ranked by their words and by their vectors."""
