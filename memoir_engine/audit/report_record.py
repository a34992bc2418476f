"""The content of a report, and its JSON record with stable names and a digest.

Invariant: the HTML page is drawn from this record, so both say the same. Keys are added, never renamed (REPORT_FORMAT counts up).
The digest is sha256 over the record without the digest itself, as JSON with sorted keys and no spaces.
Source: API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memoir_engine.audit.activity_file import action_record
from memoir_engine.core.results import (
    Action,
    AuditHead,
    Call,
    Category,
    Chunk,
    Decision,
    Helper,
    Option,
    QueryResult,
    RunView,
    SignOff,
    UsedChunk,
)
from memoir_engine.store.chain.canonical_json import stamp

Kind = Literal["source", "category", "run", "person"]
REPORT_FORMAT = "memoir-report/1"
Record = dict[str, Any]


@dataclass(frozen=True)
class ChunkReview:
    """The last review of a chunk's filing; verdict None: the reviewer filed it there."""

    by: str
    verdict: str | None
    at: datetime


@dataclass(frozen=True)
class ReportedChunk:
    """A chunk, the decisions that filed it, and its review."""

    chunk: Chunk
    decisions: tuple[Decision, ...] = ()
    review: ChunkReview | None = None


@dataclass(frozen=True)
class ReportedRun:
    """A run with its calls; `decisions` stay empty where the report lists them with the chunks."""

    run: RunView
    calls: tuple[Call, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class ReportContent:
    """Everything a report holds. left_out: how many rows were omitted, by kind."""

    kind: Kind
    title: str
    by: str
    at: datetime
    head: AuditHead
    facts: tuple[tuple[str, str], ...] = ()
    helpers: tuple[Helper, ...] = ()
    categories: tuple[Category, ...] = ()
    chunks: tuple[ReportedChunk, ...] = ()
    answer: QueryResult | None = None
    texts: dict[int, str] = field(default_factory=dict)  # by id of the source that an answer quotes
    runs: tuple[ReportedRun, ...] = ()
    sign_offs: tuple[SignOff, ...] = ()
    actions: tuple[Action, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


def record(content: ReportContent) -> Record:
    """Return the report as JSON values, with its digest."""
    body: Record = {
        "format": REPORT_FORMAT,
        "kind": content.kind,
        "title": content.title,
        "made_by": content.by,
        "made_at": stamp(content.at),
        "head": {"seq": content.head.seq, "hash": content.head.hash, "at": stamp(content.head.at)},
        "facts": [{"label": label, "value": value} for label, value in content.facts],
        "helpers": [
            {
                "version": helper.version,
                "origin": helper.origin,
                "in_force": helper.in_force,
                "text": helper.text,
                "tokens": helper.tokens,
                "written_at": stamp(helper.created_at),
            }
            for helper in content.helpers
        ],
        "categories": [
            {"id": category.id, "path": list(category.path), "level": category.level, "chunks": category.chunks}
            for category in content.categories
        ],
        "chunks": [_reported_chunk(chunk) for chunk in content.chunks],
        "answer": None if content.answer is None else _answer(content.answer, content.texts),
        "runs": [_run(run) for run in content.runs],
        "sign_offs": [_sign_off(sign_off) for sign_off in content.sign_offs],
        # without their events: those are in the export of the activity
        "actions": [{k: v for k, v in action_record(action).items() if k != "events"} for action in content.actions],
        "left_out": dict(content.left_out),
    }
    return {**body, "digest": digest(body)}


def digest(report: Record) -> str:
    """Return the sha256 of the record without its digest, as hexadecimal."""
    covered = {name: value for name, value in report.items() if name != "digest"}
    return hashlib.sha256(json.dumps(covered, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def as_json(report: Record) -> str:
    return json.dumps(report, ensure_ascii=False, indent=1) + "\n"


def _reported_chunk(reported: ReportedChunk) -> Record:
    review = reported.review
    return {
        **_chunk(reported.chunk),
        "review": None if review is None else {"by": review.by, "verdict": review.verdict, "at": stamp(review.at)},
        "decisions": [_decision(decision) for decision in reported.decisions],
    }


def _chunk(chunk: Chunk) -> Record:
    return {
        "id": chunk.id,
        "source": {"id": chunk.source_id, "name": chunk.source_name},
        "number": chunk.position + 1,
        "span": [chunk.start, chunk.end],
        "tokens": chunk.tokens,
        "category": chunk.category_id,
        "path": list(chunk.category_path),
        "text": chunk.text,
    }


def _decision(decision: Decision) -> Record:
    def option(offered: Option) -> Record:
        return {"category": offered.category_id, "name": offered.name, "second_opinion": offered.opinion}

    def by_opinion(rejected: Option) -> tuple[float, int]:
        return (-(rejected.opinion if rejected.opinion is not None else -1.0), rejected.category_id)

    chosen = sorted((o for o in decision.options if o.category_id in decision.chosen), key=lambda o: o.rank or 0)
    return {
        "level": decision.level,
        "under": list(decision.parent_path),
        "chosen": [{**option(o), "rank": o.rank, "new": o.is_new} for o in chosen],
        "rejected": [option(o) for o in sorted(decision.rejected, key=by_opinion)],
        "decided_by": decision.decided_by,
        "second_opinion_seen": decision.seen,
        "attempts": decision.attempts,
        "call": decision.call_id,
        "note": decision.note,
        "taught_by": list(decision.taught),
    }


def _answer(result: QueryResult, texts: dict[int, str]) -> Record:
    chunks = {chunk.id: chunk for chunk in result.chunks}
    return {
        "question": result.question,
        "text": result.answer,
        "as_of_event": result.as_of_seq,
        "read": [_used_chunk(used, chunks.get(used.chunk_id), texts.get(used.source_id, "")) for used in result.used_chunks],
        "dropped": [
            {"path": list(path.category_path), "reason": path.reason, "chunks": path.chunks} for path in result.dropped_paths
        ],
        "safety_net": [_chunk(chunk) for chunk in result.net],
        "left_out_by_limit": result.left_out,
        "warnings": list(result.warnings),
    }


def _used_chunk(used: UsedChunk, chunk: Chunk | None, text: str) -> Record:
    return {
        "number": used.number,
        "cited": used.cited,
        "chunk": used.chunk_id,
        "source": {"id": used.source_id, "name": chunk.source_name if chunk else ""},
        "span": [used.start, used.end],
        "path": list(used.category_path),
        "quotes": [{"span": [start, end], "text": text[start:end]} for start, end in used.quotes],
        "text": chunk.text if chunk else "",
    }


def _run(reported: ReportedRun) -> Record:
    run = reported.run
    return {
        "id": run.id,
        "verb": run.verb,
        "actor": run.actor,
        "status": run.status,
        "started_at": stamp(run.started_at),
        "ended_at": None if run.ended_at is None else stamp(run.ended_at),
        "tree_event": run.tree_seq,
        "request": run.request,
        "error": run.error,
        "tokens_prompt": run.tokens_prompt,
        "tokens_completion": run.tokens_completion,
        "latency_ms": run.latency_ms,
        "cost": run.cost,
        "calls": [_call(call) for call in reported.calls],
        "decisions": [_decision(decision) for decision in reported.decisions],
    }


def _call(call: Call) -> Record:
    return {
        "id": call.id,
        "purpose": call.purpose,
        "model": call.model,
        "provider": call.provider,
        "prompt_version": call.prompt_version,
        "params": call.params,
        "attempt": call.attempt,
        "started_at": stamp(call.started_at),
        "latency_ms": call.latency_ms,
        "tokens_prompt": call.tokens_prompt,
        "tokens_completion": call.tokens_completion,
        "tokens_estimated": call.tokens_estimated,
        "cost": call.cost,
        "error": call.error,
        "reused_from": call.reused_from,
    }


def _sign_off(sign_off: SignOff) -> Record:
    end = sign_off.ended_by
    return {
        "event": sign_off.seq,
        "subject": sign_off.subject,
        "subject_id": sign_off.subject_id,
        "title": sign_off.title,
        "signer": sign_off.signer,
        "at": stamp(sign_off.at),
        "statement": sign_off.statement,
        "chunks": sign_off.chunks,
        "reviewed": sign_off.reviewed,
        "categories": sign_off.categories,
        "digest": sign_off.digest,
        "state": sign_off.state,
        "ended_by": None if end is None else {"action": end.action_id, "by": end.actor, "says": end.says},
    }
