"""A clock that a test sets."""

from __future__ import annotations

from datetime import datetime, timedelta


class SetClock:
    """Clock that shows a start and the time it was moved since."""

    def __init__(self, beginning: datetime) -> None:
        self._beginning = beginning
        self.moved = timedelta()

    def now(self) -> datetime:
        return self._beginning + self.moved

    def tick_ms(self) -> float:
        return self.now().timestamp() * 1000
