"""Words that are told while they come, though whoever gives them may have to begin again.

Invariant: what was told is never told twice. Words that come again are held back as long as they are the same; where they go on
otherwise, all of them follow as a paragraph of their own, since nobody can be made to unhear the first.
Source: SESSION 4.2, 4.4.
"""

from __future__ import annotations

from collections.abc import Callable

PARAGRAPH = "\n\n"


class RestartableStream:
    """Called with each piece. `anew()` before the words come once more from their beginning, `whole()` at their end."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""
        self._again: str | None = None  # what came since they began anew, while it is held back

    def __call__(self, piece: str) -> None:
        if self._again is None:
            self._told += piece
            self._tell(piece)
            return
        self._again += piece
        if self._again.startswith(self._told):
            self._go_on(self._again[len(self._told) :])
        elif not self._told.startswith(self._again):
            self._go_on(PARAGRAPH + self._again)

    def anew(self) -> None:
        if self._told:
            self._again = ""

    def whole(self) -> None:
        """Also what was held back and came to nothing more."""
        if self._again:
            self._go_on(PARAGRAPH + self._again)

    def _go_on(self, rest: str) -> None:
        self._told, self._again = self._again or "", None
        if rest:
            self._tell(rest)
