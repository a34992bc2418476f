"""Erasure of a source and of every text that quotes it."""
