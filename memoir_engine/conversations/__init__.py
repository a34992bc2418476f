"""Conversations told to files and read from them."""
