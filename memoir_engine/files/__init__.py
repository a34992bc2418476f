"""Bytes in; text, title, author, date, headings and page offsets out. One file per format."""

from memoir_engine.files.document import Document
from memoir_engine.files.reading import read, read_text

__all__ = ["Document", "read", "read_text"]
