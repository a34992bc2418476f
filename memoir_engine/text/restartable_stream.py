"""A text stream whose producer may restart from the beginning.

Invariant: nothing is sent twice. Text after a restart is held back while it repeats the first; once it differs, all of it follows
as a paragraph of its own, since the first cannot be taken back.
Source: SESSION 4.2, 4.4.
"""

from __future__ import annotations

from collections.abc import Callable

PARAGRAPH = "\n\n"


class RestartableStream:
    """Called with each piece. Call `anew()` before the text restarts, and `whole()` at its end."""

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
        """Send the held-back text if it never caught up with the first."""
        if self._again:
            self._go_on(PARAGRAPH + self._again)

    def _go_on(self, rest: str) -> None:
        self._told, self._again = self._again or "", None
        if rest:
            self._tell(rest)
