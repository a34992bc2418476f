"""LangGraph checkpoints: write, read, prune and erase."""
