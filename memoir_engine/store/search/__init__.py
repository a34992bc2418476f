"""Passages, vectors and hits of the ranked search."""
