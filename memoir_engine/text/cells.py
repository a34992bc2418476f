"""A value as a cell of a table that a spreadsheet may open.

Invariant: no cell can be taken for a formula: one that begins like one, blanks aside, gets an apostrophe in front. Pure.
Source: OWASP, CSV injection (what spreadsheets take for a formula).
"""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")  # full-width forms count, too
_BLANKS = " \t\r\n\v\f\u00a0\u200b\u2060\ufeff"


def safe_cell(value: object) -> str:
    """As a spreadsheet may show it: never a formula, no control characters."""
    text = "" if value is None else str(value)
    text = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return f"'{text}" if text.lstrip(_BLANKS).startswith(_FORMULA) else text
