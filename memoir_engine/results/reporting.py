"""A report to keep: one document for people and one for programs, with the same content."""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.results.evidence import AuditHead


@dataclass(frozen=True)
class Report:
    """`html` needs nothing but itself; `json` says the same. `digest` is over the content, `head` the chain's at that time.

    name: for a file, without an ending.
    """

    kind: str  # source, category, run, person
    title: str
    name: str
    html: str
    json: str
    digest: str
    head: AuditHead
