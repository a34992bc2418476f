"""Conversations cut into parts that a model can read; one file per strategy."""
