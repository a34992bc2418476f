"""Reports of a source, a category, a run, or what a person did: collected in one reading, written by `reports`.

Invariant: all of a report is of one moment, which its head of the chain names. What a report cannot hold it counts.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from memoir_engine.api.runs import RunsView
from memoir_engine.audit.report_page import page
from memoir_engine.audit.report_record import ChunkReview, Kind, ReportContent, ReportedChunk, ReportedRun, as_json, record
from memoir_engine.audit.trail import with_words
from memoir_engine.core import event_words, validation
from memoir_engine.core.results import Action, Chunk, QueryResult, Report, Source
from memoir_engine.review.sign_off import said
from memoir_engine.runtime.access import any_of, runs_of
from memoir_engine.runtime.view import View
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx
from memoir_engine.store.events import activity
from memoir_engine.store.events.activity import Wanted
from memoir_engine.store.ledger import calls, decisions, runs
from memoir_engine.store.review import sign_offs, verdicts
from memoir_engine.store.sources import chunks, sources
from memoir_engine.store.tree import categories

MOST_CHUNKS, MOST_ACTIONS, MOST_RUNS = 2_000, 2_000, 200
MOST_CALLS, MOST_DECISIONS = 5_000, 5_000  # of all runs of a report together


class Reports(View):
    """Each as a page that needs nothing but itself, and as JSON with the same content."""

    def source(self, source_id: int) -> Report:
        """Where each of its chunks is filed and why, who reviewed and signed it, and what it cost. Raises SourceNotFound."""
        number = validation.source(source_id)
        return self._report(lambda tx: self._of_source(tx, number))

    def category(self, category_id: int) -> Report:
        """The same for what is filed in it or below; the cost is that of the sources it comes from. Raises CategoryNotFound."""
        number = validation.category(category_id)
        return self._report(lambda tx: self._of_category(tx, number))

    def run(self, run_id: str) -> Report:
        """What was asked, chosen and rejected at each level, read and answered, by which calls. Raises RunNotFound."""
        wanted, known = validation.run(run_id), RunsView(self._engine, self._actor)
        answer = known.query(wanted) if known.get(wanted).run.verb == "query" else None  # of a run that ended it never changes
        return self._report(lambda tx: self._of_run(tx, wanted, answer))

    def person(self, name: str) -> Report:
        """All that one person did, with their reasons, and what they signed."""
        wanted = validation.text("name", name)
        return self._report(lambda tx: self._of_person(tx, wanted))

    def _report(self, collect: Any) -> Report:
        content: ReportContent = self._read(collect)
        made = record(content)
        name = re.sub(r"[^\w.-]+", "-", f"{content.kind}-{content.title}").strip("-.")[:80]
        return Report(content.kind, content.title, f"{name}-report", page(made), as_json(made), made["digest"], content.head)

    def _content(self, tx: Tx, kind: Kind, title: str, facts: Sequence[tuple[str, Any]], **more: Any) -> ReportContent:
        known = tuple((label, str(value)) for label, value in facts if value not in (None, ""))
        return ReportContent(kind, title, self._actor.name, self._engine.clock.now(), actions.head(tx), known, **more)

    def _of_source(self, tx: Tx, number: int) -> ReportContent:
        source = sources.get(tx, number)
        found = chunks.of_source(tx, number)
        actions, more = self._actions(tx, Wanted(source=number))
        stories = _runs(tx, [source.run_id])
        return self._content(
            tx,
            "source",
            source.name,
            _facts(source),
            helpers=sources.helper_history(tx, number),
            chunks=_stories(tx, found[:MOST_CHUNKS]),
            runs=stories,
            sign_offs=said(sign_offs.listed(tx, subject="source", number=number)),
            actions=actions,
            left_out=_left_out(chunks=len(found) - MOST_CHUNKS, actions=more, calls=_not_told(*stories)),
        )

    def _of_category(self, tx: Tx, number: int) -> ReportContent:
        category = categories.node(tx, number)
        inside = set(verdicts.leaves_below(tx, number))
        below = [one for one in categories.all_categories(tx) if one.id in inside]
        found: list[Chunk] = []
        for leaf in below:
            if leaf.is_leaf and len(found) < MOST_CHUNKS:
                found += chunks.page(tx, leaf.id, limit=MOST_CHUNKS - len(found)).chunks
        actions, more = self._actions(tx, Wanted(category=number))
        came_by = list(dict.fromkeys(sources.get(tx, one).run_id for one in dict.fromkeys(chunk.source_id for chunk in found)))
        stories = _runs(tx, came_by[:MOST_RUNS])
        return self._content(
            tx,
            "category",
            " › ".join(category.path),
            (("Level", category.level), ("Chunks", category.chunks), ("Categories below", len(below) - 1)),
            categories=tuple(below),
            chunks=_stories(tx, found),
            runs=stories,
            sign_offs=said(sign_offs.listed(tx, subject="category", number=number)),
            actions=actions,
            left_out=_left_out(
                chunks=category.chunks - len(found),
                runs=len(came_by) - MOST_RUNS,
                actions=more,
                calls=_not_told(*stories),
            ),
        )

    def _of_run(self, tx: Tx, run_id: str, answer: QueryResult | None) -> ReportContent:
        run = runs.get(tx, run_id, user=runs_of(self._actor))
        made = decisions.of_run(tx, run_id, limit=MOST_DECISIONS)
        story = ReportedRun(run, calls.of_run(tx, run_id, limit=MOST_CALLS), made)
        actions, more = self._actions(tx, Wanted(run=run_id))
        quoted = {one.source_id for one in answer.used_chunks if one.quotes} if answer else set()
        title = str(run.request.get("question") or run.request.get("name") or run.verb)
        return self._content(
            tx,
            "run",
            title if len(title) <= 200 else f"{title[:199]}…",
            (("Run", run.id), ("Verb", run.verb), ("By", run.actor), ("Status", run.status), ("Tree as of event", run.tree_seq)),
            answer=answer,
            texts={number: sources.text(tx, number) for number in sorted(quoted)},
            runs=(story,),
            actions=actions,
            left_out=_left_out(actions=more, calls=_not_told(story), decisions=decisions.count(tx, run_id) - len(made)),
        )

    def _of_person(self, tx: Tx, name: str) -> ReportContent:
        wanted = Wanted(actor=name, but=("close",))
        actions, more = self._actions(tx, wanted)
        did: dict[str, int] = {}
        for verb, many in activity.by_verb(tx, wanted).items():
            did[event_words.verb(verb)] = did.get(event_words.verb(verb), 0) + many
        taken_back = activity.taken_back(tx, wanted)
        facts = [("Actions", len(actions) + more), *sorted(did.items()), ("Taken back since", taken_back or None)]
        signed = sign_offs.listed(tx, signer=name, limit=MOST_ACTIONS)
        return self._content(tx, "person", name, facts, sign_offs=said(signed), actions=actions, left_out=_left_out(actions=more))

    def _actions(self, tx: Tx, wanted: Wanted) -> tuple[tuple[Action, ...], int]:
        """The newest, in words, and how many more there are."""
        found = with_words(tx, activity.page(tx, wanted, limit=MOST_ACTIONS, whose=any_of(self._actor)))
        return found, 0 if len(found) < MOST_ACTIONS else activity.count(tx, wanted) - len(found)


def _facts(source: Source) -> tuple[tuple[str, Any], ...]:
    return (
        ("Name", source.name),
        ("Title", source.title),
        ("Author", source.author),
        ("Date", source.dated),
        ("Kind", source.kind),
        ("Version", source.version),
        ("Status", source.status),
        ("Characters", source.chars),
        ("Tokens", source.tokens),
        ("Added", f"{source.created_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("Added by", source.added_by),
        ("SHA-256 of the original", source.sha256),
        *((str(name), value) for name, value in source.metadata.items()),
    )


def _stories(tx: Tx, found: Sequence[Chunk]) -> tuple[ReportedChunk, ...]:
    ids = [chunk.id for chunk in found]
    made, reviews = decisions.of_chunks(tx, ids), verdicts.reviews(tx, ids)
    return tuple(
        ReportedChunk(chunk, made.get(chunk.id, ()), ChunkReview(*reviews[chunk.id]) if chunk.id in reviews else None)
        for chunk in found
    )


def _runs(tx: Tx, run_ids: Sequence[str | None]) -> tuple[ReportedRun, ...]:
    """Without their decisions: they stand with the chunks. Calls in order, as long as there is room for them."""
    stories: list[ReportedRun] = []
    room = MOST_CALLS
    for one in run_ids:
        if one is not None:
            stories.append(ReportedRun(runs.get(tx, one), calls.of_run(tx, one, limit=room)))
            room -= len(stories[-1].calls)
    return tuple(stories)


def _not_told(*stories: ReportedRun) -> int:
    """Calls of these runs that are not in the report."""
    return sum(one.run.calls + one.run.reused - len(one.calls) for one in stories)


def _left_out(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}
