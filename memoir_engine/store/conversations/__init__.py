"""Sessions and messages: append, read, limit and clear."""
