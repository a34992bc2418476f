"""A report as JSON: names that stay, and a digest over all of it.

Invariant: the page is drawn from this very record, so both say the same. Keys are added, never renamed (`FORMAT` counts).
The digest is sha256 over the record without it, as JSON with sorted keys and no spaces.
Source: API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from memoir_engine.core import event_words
from memoir_engine.core.results import (
    Action,
    AuditEvent,
    AuditHead,
    Call,
    Category,
    Change,
    Chunk,
    Decision,
    Helper,
    Option,
    QueryResult,
    RunView,
    SignOff,
    UsedChunk,
)

# === content: What a report is made of: values that somebody has collected, nothing of how they are shown.
#
# Source: API "The ledger and the audit" (memory.reports).


Kind = Literal["source", "category", "run", "person"]


@dataclass(frozen=True)
class ChunkReview:
    """Who looked at the filing of a chunk last, and what they said; verdict None: filed there by them."""

    by: str
    verdict: str | None
    at: datetime


@dataclass(frozen=True)
class ReportedChunk:
    """A chunk, the choices that put it where it is, and its review."""

    chunk: Chunk
    decisions: tuple[Decision, ...] = ()
    review: ChunkReview | None = None


@dataclass(frozen=True)
class ReportedRun:
    """`decisions` are left out where they stand with the chunks."""

    run: RunView
    calls: tuple[Call, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class ReportContent:
    """`left_out`: how many of what are not in here, by name."""

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
    texts: dict[int, str] = field(default_factory=dict)  # of the sources that an answer quotes
    runs: tuple[ReportedRun, ...] = ()
    sign_offs: tuple[SignOff, ...] = ()
    actions: tuple[Action, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


# === cells: A value as a cell of a table that a spreadsheet may open.
#
# Invariant: no cell can be taken for a formula: one that begins like one, blanks aside, gets an apostrophe in front.
# Pure.
# Source: OWASP, CSV injection (what spreadsheets take for a formula).


_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")  # full-width forms count, too
_BLANKS = " \t\r\n\v\f\u00a0\u200b\u2060\ufeff"


def safe_cell(value: object) -> str:
    """As a spreadsheet may show it: never a formula, no control characters."""
    text = "" if value is None else str(value)
    text = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return f"'{text}" if text.lstrip(_BLANKS).startswith(_FORMULA) else text


# === activity: The activity as a table for spreadsheets and as JSON.
#
# Invariant: no cell can be taken for a formula. The JSON holds the same, with every event as the chain has it.
# Source: API "The ledger and the audit".


ACTIVITY_FORMAT = "memoir-activity/1"
COLUMNS = (
    *("at", "actor", "action", "verb", "what", "before", "after", "count", "reason", "run", "undoes", "undone_by"),
    *("first_event", "last_event", "last_hash"),
)


def head_line() -> str:
    return _line(COLUMNS)


def lines(actions: Iterable[Action]) -> str:
    """One line per thing an action did; the action's own cells are repeated."""
    return "".join(_line(_cells(action, change)) for action in actions for change in action.changes or (None,))


def item(action: Action) -> dict[str, Any]:
    """An action as JSON has it."""
    return {
        "action": action.action_id,
        "at": stamp(action.at),
        "actor": action.actor,
        "verb": action.verb,
        "says": event_words.verb(action.verb),
        "reason": action.reason,
        "run": action.run_id,
        "undoes": action.undoes,
        "undone_by": action.undone_by,
        "changes": [change_item(one) for one in action.changes],
        "events": [_event(one) for one in action.events],
    }


def change_item(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "says": change.says,
        "before": change.before,
        "after": change.after,
        "count": change.count,
        "source": change.source_id,
        "category": change.category_id,
        "chunk": change.chunk_id,
    }


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _cells(action: Action, change: Change | None) -> tuple[object, ...]:
    did = (change.says, change.before, change.after, change.count) if change else (None, None, None, None)
    first, last = (action.events[0], action.events[-1]) if action.events else (None, None)
    ends = (first.seq if first else None, last.seq if last else None, last.hash if last else None)
    who = (stamp(action.at), action.actor, action.action_id, event_words.verb(action.verb))
    return (*who, *did, action.reason, action.run_id, action.undoes, action.undone_by, *ends)


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": stamp(event.at),
        "kind": event.kind,
        "body": event.body,
        "payload": event.payload,
        "hash": event.hash,
    }


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()


# === record


REPORT_FORMAT = "memoir-report/1"
Record = dict[str, Any]


def record(content: ReportContent) -> Record:
    """All of it, with its digest."""
    made: Record = {
        "format": REPORT_FORMAT,
        "kind": content.kind,
        "title": content.title,
        "made_by": content.by,
        "made_at": stamp(content.at),
        "head": {"seq": content.head.seq, "hash": content.head.hash, "at": stamp(content.head.at)},
        "facts": [{"label": label, "value": value} for label, value in content.facts],
        "helpers": [_helper(one) for one in content.helpers],
        "categories": [_category(one) for one in content.categories],
        "chunks": [_story(one) for one in content.chunks],
        "answer": None if content.answer is None else _answer(content.answer, content.texts),
        "runs": [_run(one) for one in content.runs],
        "sign_offs": [_sign_off(one) for one in content.sign_offs],
        "actions": [_action(item(one)) for one in content.actions],
        "left_out": dict(content.left_out),
    }
    return {**made, "digest": digest(made)}


def digest(made: Record) -> str:
    """Of the record without its digest."""
    covered = {name: value for name, value in made.items() if name != "digest"}
    return hashlib.sha256(json.dumps(covered, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def as_json(made: Record) -> str:
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _helper(helper: Helper) -> Record:
    return {
        "version": helper.version,
        "origin": helper.origin,
        "in_force": helper.in_force,
        "text": helper.text,
        "tokens": helper.tokens,
        "written_at": stamp(helper.created_at),
    }


def _category(category: Category) -> Record:
    return {"id": category.id, "path": list(category.path), "level": category.level, "chunks": category.chunks}


def _story(story: ReportedChunk) -> Record:
    return {
        **_chunk(story.chunk),
        "review": None if story.review is None else _review(story.review),
        "decisions": [_decision(one) for one in story.decisions],
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


def _review(review: ChunkReview) -> Record:
    return {"by": review.by, "verdict": review.verdict, "at": stamp(review.at)}


def _decision(decision: Decision) -> Record:
    chosen = sorted((one for one in decision.options if one.category_id in decision.chosen), key=lambda one: one.rank or 0)
    return {
        "level": decision.level,
        "under": list(decision.parent_path),
        "chosen": [{**_option(one), "rank": one.rank, "new": one.is_new} for one in chosen],
        "rejected": [_option(one) for one in sorted(decision.rejected, key=_nearness)],
        "decided_by": decision.decided_by,
        "second_opinion_seen": decision.seen,
        "attempts": decision.attempts,
        "call": decision.call_id,
        "note": decision.note,
        "taught_by": list(decision.taught),
    }


def _option(option: Option) -> Record:
    return {"category": option.category_id, "name": option.name, "second_opinion": option.opinion}


def _nearness(option: Option) -> tuple[float, int]:
    """The likeliest by the second opinion first."""
    return (-(option.opinion if option.opinion is not None else -1.0), option.category_id)


def _answer(result: QueryResult, texts: dict[int, str]) -> Record:
    chunks = {chunk.id: chunk for chunk in result.chunks}
    return {
        "question": result.question,
        "text": result.answer,
        "as_of_event": result.as_of_seq,
        "read": [_used(one, chunks.get(one.chunk_id), texts.get(one.source_id, "")) for one in result.used_chunks],
        "dropped": [
            {"path": list(one.category_path), "reason": one.reason, "chunks": one.chunks} for one in result.dropped_paths
        ],
        "safety_net": [_chunk(one) for one in result.net],
        "left_out_by_limit": result.left_out,
        "warnings": list(result.warnings),
    }


def _used(used: UsedChunk, chunk: Chunk | None, text: str) -> Record:
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


def _run(story: ReportedRun) -> Record:
    run = story.run
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
        "calls": [_call(one) for one in story.calls],
        "decisions": [_decision(one) for one in story.decisions],
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


def _sign_off(one: SignOff) -> Record:
    ended = (
        None if one.ended_by is None else {"action": one.ended_by.action_id, "by": one.ended_by.actor, "says": one.ended_by.says}
    )
    return {
        "event": one.seq,
        "subject": one.subject,
        "subject_id": one.subject_id,
        "title": one.title,
        "signer": one.signer,
        "at": stamp(one.at),
        "statement": one.statement,
        "chunks": one.chunks,
        "reviewed": one.reviewed,
        "categories": one.categories,
        "digest": one.digest,
        "state": one.state,
        "ended_by": ended,
    }


def _action(made: Record) -> Record:
    """Without its events: they are in the export of the activity."""
    return {name: value for name, value in made.items() if name != "events"}
