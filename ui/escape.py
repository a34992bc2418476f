"""Escaping of untrusted text in Markdown labels.

Invariant: no link, image, directive or HTML survives; a reader sees the same characters.
"""

from __future__ import annotations

import re

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$^=&\"'])")
_LIVE = re.compile(r"(:|@|www)(?=\S)", re.IGNORECASE)  # :red[…], :icon:, https://, a@b, www.
_GAP = "\u200b"  # zero width: breaks what a Markdown reader would turn into a link


def md_escape(text: str) -> str:
    """Escape labels, captions and badges; whole texts go through st.text, tables and components instead."""
    flat = " ".join(text.split())
    return _MARKS.sub(r"\\\1", _LIVE.sub(rf"\1{_GAP}", flat))
