"""Texts the chain must be able to forget: prompts, replies, requests, options, reasons.

Invariant: a payload is named by sha256(salt ‖ body); what refers to it holds that digest and nothing of the text.
Source: DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import insert, select

from memoir_engine.store import tables
from memoir_engine.store.chain.canonical_json import canonical, digest, parse, salts
from memoir_engine.store.db.statements import Prepared
from memoir_engine.store.db.types import Tx, portions

_ADD = Prepared(insert(tables.payload))


def put(tx: Tx, bodies: Sequence[dict[str, Any]]) -> list[str]:
    """Store payloads; return their digests in the same order."""
    rows = []
    for salt, body in zip(salts(len(bodies)), bodies, strict=True):
        text = canonical(body)
        rows.append({"digest": digest(salt, text), "salt": salt, "body": text})
    if rows:
        _ADD.run_all(tx, rows)
    return [row["digest"] for row in rows]


def get(tx: Tx, digests: Iterable[str | None]) -> dict[str, dict[str, Any]]:
    """Return bodies by digest; a missing one is absent."""
    bodies: dict[str, dict[str, Any]] = {}
    for some in portions(sorted({name for name in digests if name})):
        rows = tx.execute(select(tables.payload.c.digest, tables.payload.c.body).where(tables.payload.c.digest.in_(some)))
        bodies |= {row.digest: parse(row.body) for row in rows}
    return bodies
