"""Undo of actions."""
