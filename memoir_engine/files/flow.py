"""Text built block by block, with headings at their offsets.

Invariant: blocks are parted by one blank line, lines of a block by one line break; no block is empty; a heading's
offset is that of its block. Source: DESIGN §8 (files.read: headings with their offsets).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memoir_engine.results import Heading


@dataclass
class Flow:
    """Collects text; `break_block` and `break_line` may be called any number of times between two words."""

    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _gap: str = ""
    headings: list[Heading] = field(default_factory=list)

    def add(self, words: str, *, verbatim: bool = False) -> None:
        """Runs of blanks become one, unless verbatim."""
        if not verbatim:
            spaced = " ".join(words.split())
            before, after = words[:1].isspace(), words[-1:].isspace()
            if not spaced:
                self._gap = self._gap or (" " if words else "")
                return
            words = (" " if before and not self._gap else "") + spaced
            self._put(words if self._parts and not self._gap.startswith("\n") else words.lstrip())
            self._gap = " " if after else ""
        elif words:
            self._put(words.replace("\r\n", "\n").replace("\r", "\n"))

    def heading(self, level: int, words: str) -> None:
        words = " ".join(words.split())
        if words:
            self.break_block()
            self._put(words)
            self.headings.append(Heading(level, words, self._length - len(words)))
            self.break_block()

    def insert(self, text: str, headings: tuple[Heading, ...] = (), *, deeper: int = 0) -> None:
        """Text with headings of its own, verbatim, as blocks; deeper: by how much its headings lie below those here."""
        self.break_block()
        if text:
            self._put(text)
            start = self._length - len(text)
            self.headings += [Heading(heading.level + deeper, heading.text, heading.start + start) for heading in headings]
            self.break_block()

    def break_line(self) -> None:
        self._gap = "\n" if self._gap != "\n\n" else self._gap

    def break_block(self) -> None:
        self._gap = "\n\n"

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def _put(self, words: str) -> None:
        if self._parts and self._gap:
            self._parts.append(self._gap)
            self._length += len(self._gap)
        self._gap = ""
        self._parts.append(words)
        self._length += len(words)
