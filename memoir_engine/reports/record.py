"""A report as JSON: names that stay, and a digest over all of it.

Invariant: the page is drawn from this very record, so both say the same. Keys are added, never renamed (`FORMAT` counts).
The digest is sha256 over the record without it, as JSON with sorted keys and no spaces.
Source: API "The ledger and the audit" (memory.reports).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from memoir_engine.reports.activity import item, stamp
from memoir_engine.reports.content import ChunkStory, Content, Review, RunStory
from memoir_engine.results import Call, Category, Chunk, Decision, Helper, Option, QueryResult, SignOff, UsedChunk

FORMAT = "memoir-report/1"
Record = dict[str, Any]


def record(content: Content) -> Record:
    """All of it, with its digest."""
    made: Record = {
        "format": FORMAT,
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


def _story(story: ChunkStory) -> Record:
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


def _review(review: Review) -> Record:
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


def _run(story: RunStory) -> Record:
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
