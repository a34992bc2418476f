"""Bytes in; text, title, author, date, headings and page offsets out; a page of a PDF as a picture."""

from __future__ import annotations

from memoir_engine.readers.document import Document
from memoir_engine.readers.reader import PageDrawing, draw_page, named_kind, read, read_text

__all__ = ["Document", "PageDrawing", "draw_page", "named_kind", "read", "read_text"]
