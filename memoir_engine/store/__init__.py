"""The truth: every row, every transaction, the chain."""
