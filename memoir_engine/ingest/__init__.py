"""Ingestion: a text is read, cut, filed level by level, and committed in one transaction."""
