"""Bytes in; text, title, author, date, headings and page offsets out. One file per format."""

from __future__ import annotations

from memoir_engine.readers.document import Document
from memoir_engine.readers.reader import read, read_text

__all__ = ["Document", "read", "read_text"]
