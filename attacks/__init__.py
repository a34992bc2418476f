"""Attacks on a memory of one's own, each bounded by a size; what they found is drawn into docs/security.md."""
