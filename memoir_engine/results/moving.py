"""What an export wrote."""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.results.evidence import AuditHead


@dataclass(frozen=True)
class Exported:
    """`head` and `state` are those of the memory as it was exported; an import gives the same. `rows` per table."""

    path: str
    bytes: int
    head: AuditHead
    state: str
    rows: dict[str, int]
