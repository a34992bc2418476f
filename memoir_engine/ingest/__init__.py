"""A text read, cut, filed level by level, and committed in one transaction."""
