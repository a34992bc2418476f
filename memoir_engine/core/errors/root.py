"""The one root of Memoir's errors: how a class becomes a code, a message and a remedy.

Invariant: `str(error)` is `[mem][CODE] message`; the remedy stands beside it; facts never hold a secret.
Source: MEMOLLA §8, MEMOIR 6.5, DESIGN §11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

Fact = Any  # a value shown to a person inside a message: numbers, names, paths without credentials


class MemoirError(Exception):
    """Root of everything Memoir raises. `facts` are the values formatted into `message` and `remedy`."""

    code: ClassVar[str] = "E000"
    message_form: ClassVar[str] = "something went wrong"
    remedy_form: ClassVar[str] = "Please report this with the steps that led here."
    retryable: ClassVar[bool] = False

    def __init__(self, **facts: Fact) -> None:
        self.facts = facts
        self.message = self.message_form.format(**facts)
        self.remedy = self.remedy_form.format(**facts)
        super().__init__(f"[mem][{self.code}] {self.message}")
        self.add_note(f"→ {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.facts))  # errors cross the process border of file reading


def restore_error(told: str, remedy: str | None) -> MemoirError:
    """Rebuild an error from the ledger: its class by the code in its text, its wording as recorded."""
    code = told.removeprefix("[mem][").partition("]")[0]
    kind = next((kind for kind in _tree(MemoirError) if kind.code == code), MemoirError)
    error = kind.__new__(kind)
    Exception.__init__(error, told)
    error.facts, error.message, error.remedy = {}, told.partition("] ")[2] or told, remedy or ""
    error.add_note(f"→ {error.remedy}")
    return error


def _tree(root: type[MemoirError]) -> Iterator[type[MemoirError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def _rebuild(kind: type[MemoirError], facts: dict[str, Fact]) -> MemoirError:
    return kind(**facts)
