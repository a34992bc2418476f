"""What a file holds, whatever its format.

Invariant: headings and pages are offsets into `text`, which is what will be stored and what every span refers to: line
breaks are \\n, and there are neither NUL characters nor lone surrogates in it.
Source: DESIGN §3 (files/), §8 (files.read).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from memoir_engine.results import Heading

Kind = Literal["txt", "md", "html", "pdf", "docx", "eml"]


@dataclass(frozen=True)
class Document:
    """dated: ISO 8601, as precise as the file says. encoding: None where the format knows its own."""

    kind: Kind
    text: str
    title: str | None = None
    author: str | None = None
    dated: str | None = None
    headings: tuple[Heading, ...] = ()
    pages: tuple[int, ...] = ()
    encoding: str | None = None
    warnings: tuple[str, ...] = ()


def to_json(document: Document) -> dict[str, Any]:
    return asdict(document)


def from_json(value: dict[str, Any]) -> Document:
    headings = tuple(Heading(**heading) for heading in value["headings"])
    return Document(**{**value, "headings": headings, "pages": tuple(value["pages"]), "warnings": tuple(value["warnings"])})
