"""Results about backups: what a checked one holds."""

from __future__ import annotations

from dataclasses import dataclass

from memoir_engine.core.results.evidence import AuditHead


@dataclass(frozen=True)
class BackupContents:
    """Counts of a backup, made after it was read whole and its record verified.

    made_by: the version that wrote it. depth: of its tree. head: the end of its audit log.
    """

    made_by: str
    depth: int
    head: AuditHead
    sources: int
    chunks: int
    categories: int
    facts: int
    sessions: int
    people: int
    questions: int
