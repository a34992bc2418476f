"""TODO memoir_offline.rules."""
