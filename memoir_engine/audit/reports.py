"""Reports of a source, a category, a run or a person, each collected in one read transaction.

Invariant: everything in a report is of one moment, named by its head of the chain. Rows beyond a limit are counted, not listed.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from memoir_engine.audit.report_page import page
from memoir_engine.audit.report_record import ChunkReview, Kind, ReportContent, ReportedChunk, ReportedRun, as_json, record
from memoir_engine.audit.trail import with_words
from memoir_engine.core import validation
from memoir_engine.core.results import Action, Chunk, QueryResult, Report
from memoir_engine.core.run import Actor
from memoir_engine.runtime.access import any_of, runs_of
from memoir_engine.runtime.engine import Engine, View
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx
from memoir_engine.store.events import activity, sentences
from memoir_engine.store.events.activity import ActivityFilter
from memoir_engine.store.ledger import calls, decisions, runs
from memoir_engine.store.review import sign_offs
from memoir_engine.store.sources import sources
from memoir_engine.store.tree import categories, chunks, filings

MOST_CHUNKS, MOST_ACTIONS, MOST_RUNS = 2_000, 2_000, 200
MOST_CALLS, MOST_DECISIONS = 5_000, 5_000  # of all runs of a report together


class Reports(View):
    """Reports as a self-contained HTML page and as JSON with the same content.

    result_of: reads a question's result again, by its run.
    """

    def __init__(self, engine: Engine, actor: Actor, result_of: Callable[[str], QueryResult]) -> None:
        super().__init__(engine, actor)
        self._result_of = result_of

    def source(self, source_id: int) -> Report:
        """Report where each chunk is filed and why, who reviewed and signed it, and its cost. Raises SourceNotFound."""
        number = validation.source(source_id)
        return self._report(lambda tx: self._of_source(tx, number))

    def category(self, category_id: int) -> Report:
        """Report the same for the chunks in a category or below; costs are of their sources. Raises CategoryNotFound."""
        number = validation.category(category_id)
        return self._report(lambda tx: self._of_category(tx, number))

    def run(self, run_id: str) -> Report:
        """Report the request, the choices and rejections of each level, the answer and the calls. Raises RunNotFound."""
        run_id = validation.run(run_id)
        verb = self._read(lambda tx: runs.get(tx, run_id, user=runs_of(self._actor))).verb
        answer = self._result_of(run_id) if verb == "query" else None  # the answer of a finished run never changes
        return self._report(lambda tx: self._of_run(tx, run_id, answer))

    def person(self, name: str) -> Report:
        """Report one person's actions with their reasons, and their signatures."""
        name = validation.text("name", name)
        return self._report(lambda tx: self._of_person(tx, name))

    def _report(self, collect: Callable[[Tx], ReportContent]) -> Report:
        content = self._read(collect)
        report = record(content)
        name = re.sub(r"[^\w.-]+", "-", f"{content.kind}-{content.title}").strip("-.")[:80]
        return Report(
            content.kind, content.title, f"{name}-report", page(report), as_json(report), report["digest"], content.head
        )

    def _content(self, tx: Tx, kind: Kind, title: str, facts: Sequence[tuple[str, Any]], **more: Any) -> ReportContent:
        present = tuple((label, str(value)) for label, value in facts if value not in (None, ""))
        return ReportContent(kind, title, self._actor.name, self._engine.clock.now(), actions.head(tx), present, **more)

    def _of_source(self, tx: Tx, number: int) -> ReportContent:
        source = sources.get(tx, number)
        filed = chunks.of_source(tx, number)
        actions, more = self._actions(tx, ActivityFilter(source=number))
        reported = _runs(tx, [source.run_id])
        return self._content(
            tx,
            "source",
            source.name,
            (
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
            ),
            helpers=sources.helper_history(tx, number),
            chunks=_chunks(tx, filed[:MOST_CHUNKS]),
            runs=reported,
            sign_offs=sentences.sign_offs(sign_offs.listed(tx, subject="source", number=number)),
            actions=actions,
            left_out=_left_out(chunks=len(filed) - MOST_CHUNKS, actions=more, calls=_omitted_calls(*reported)),
        )

    def _of_category(self, tx: Tx, number: int) -> ReportContent:
        category = categories.node(tx, number)
        inside = categories.below(categories.open_tree(tx).values(), number)
        below = [row for row in categories.all_categories(tx) if row.id in inside]
        filed: list[Chunk] = []
        for leaf in below:
            if leaf.is_leaf and len(filed) < MOST_CHUNKS:
                filed += chunks.page(tx, leaf.id, limit=MOST_CHUNKS - len(filed)).chunks
        actions, more = self._actions(tx, ActivityFilter(category=number))
        source_ids = dict.fromkeys(chunk.source_id for chunk in filed)
        run_ids = list(dict.fromkeys(sources.get(tx, source_id).run_id for source_id in source_ids))
        reported = _runs(tx, run_ids[:MOST_RUNS])
        return self._content(
            tx,
            "category",
            " › ".join(category.path),
            (("Level", category.level), ("Chunks", category.chunks), ("Categories below", len(below) - 1)),
            categories=tuple(below),
            chunks=_chunks(tx, filed),
            runs=reported,
            sign_offs=sentences.sign_offs(sign_offs.listed(tx, subject="category", number=number)),
            actions=actions,
            left_out=_left_out(
                chunks=category.chunks - len(filed),
                runs=len(run_ids) - MOST_RUNS,
                actions=more,
                calls=_omitted_calls(*reported),
            ),
        )

    def _of_run(self, tx: Tx, run_id: str, answer: QueryResult | None) -> ReportContent:
        run = runs.get(tx, run_id, user=runs_of(self._actor))
        choices = decisions.of_run(tx, run_id, limit=MOST_DECISIONS)
        reported = ReportedRun(run, calls.of_run(tx, run_id, limit=MOST_CALLS), choices)
        actions, more = self._actions(tx, ActivityFilter(run=run_id))
        quoted = {used.source_id for used in answer.used_chunks if used.quotes} if answer else set()
        title = str(run.request.get("question") or run.request.get("name") or run.verb)
        return self._content(
            tx,
            "run",
            title if len(title) <= 200 else f"{title[:199]}…",
            (("Run", run.id), ("Verb", run.verb), ("By", run.actor), ("Status", run.status), ("Tree as of event", run.tree_seq)),
            answer=answer,
            texts={number: sources.text(tx, number) for number in sorted(quoted)},
            runs=(reported,),
            actions=actions,
            left_out=_left_out(
                actions=more, calls=_omitted_calls(reported), decisions=decisions.count(tx, run_id) - len(choices)
            ),
        )

    def _of_person(self, tx: Tx, name: str) -> ReportContent:
        wanted = ActivityFilter(actor=name, but=("close",))
        actions, more = self._actions(tx, wanted)
        counts: Counter[str] = Counter()  # several verbs may share their words
        for verb, count in activity.by_verb(tx, wanted).items():
            counts[sentences.verb(verb)] += count
        taken_back = activity.taken_back(tx, wanted)
        facts = [("Actions", len(actions) + more), *sorted(counts.items()), ("Taken back since", taken_back or None)]
        signed = sign_offs.listed(tx, signer=name, limit=MOST_ACTIONS)
        return self._content(
            tx,
            "person",
            name,
            facts,
            sign_offs=sentences.sign_offs(signed),
            actions=actions,
            left_out=_left_out(actions=more),
        )

    def _actions(self, tx: Tx, wanted: ActivityFilter) -> tuple[tuple[Action, ...], int]:
        """Return the newest actions in words, and how many more there are."""
        newest = with_words(tx, activity.page(tx, wanted, limit=MOST_ACTIONS, whose=any_of(self._actor)))
        return newest, 0 if len(newest) < MOST_ACTIONS else activity.count(tx, wanted) - len(newest)


def _chunks(tx: Tx, filed: Sequence[Chunk]) -> tuple[ReportedChunk, ...]:
    ids = [chunk.id for chunk in filed]
    choices, reviews = decisions.of_chunks(tx, ids), filings.chunk_reviews(tx, ids)
    return tuple(
        ReportedChunk(chunk, choices.get(chunk.id, ()), ChunkReview(*reviews[chunk.id]) if chunk.id in reviews else None)
        for chunk in filed
    )


def _runs(tx: Tx, run_ids: Sequence[str | None]) -> tuple[ReportedRun, ...]:
    """Return these runs without decisions (the report lists them with the chunks), with calls up to MOST_CALLS in all."""
    reported: list[ReportedRun] = []
    room = MOST_CALLS
    for run_id in filter(None, run_ids):
        reported.append(ReportedRun(runs.get(tx, run_id), calls.of_run(tx, run_id, limit=room)))
        room -= len(reported[-1].calls)
    return tuple(reported)


def _omitted_calls(*reported: ReportedRun) -> int:
    return sum(run.run.calls + run.run.reused - len(run.calls) for run in reported)


def _left_out(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}
