"""The verb what_if: a finished question once more, with another choice at one level.

Invariant: it is a run of its own beside the original, which nothing changes, and it walks the same tree: where that has changed
since, as it stood. Levels above the choice are repeated without a call; below it the model is asked anew.
Source: DESIGN §9 ("a run with an address of its own"); API "The ledger and the audit".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from memoir_engine import given
from memoir_engine.asking import QueryOptions, query_verb
from memoir_engine.errors import ChoiceNotOffered, InvalidSetting
from memoir_engine.reading import RunsView
from memoir_engine.results import Decision, QueryResult, RunView
from memoir_engine.run import Actor, Listener
from memoir_engine.running import Verb
from memoir_engine.wiring import Engine

if TYPE_CHECKING:
    from memoir_engine.query.traverse import Taken

ASKED = {each.name for each in fields(QueryOptions)} - {"after", "page_size"}  # the branch begins at its first page


def what_if_verb(
    engine: Engine,
    actor: Actor,
    run_id: str,
    decision_id: int,
    take: Iterable[int],
    listeners: tuple[Listener, ...] = (),
) -> Verb[QueryResult]:
    """Raises RunNotFound, InvalidSetting for a run that is no finished question, ChoiceNotOffered."""
    runs, decision_id = RunsView(engine, actor), given.whole("decision_id", decision_id, least=1)
    view = runs.get(given.run(run_id)).run
    if view.verb != "query" or view.status != "done":
        _refuse(run_id, "it is no question that was answered" if view.verb == "query" else f"it is of {view.verb!r}")
    decisions = runs.query(run_id).decisions
    chosen = _checked(decisions, decision_id, given.rows("take", take))
    request = view.request
    options = QueryOptions(**{name: value for name, value in request.items() if name in ASKED})
    if options.as_of is not None or _changed_since(engine, view):
        # beside what was read then belongs what would have been read then; a time that lay ahead was that moment, too
        options = replace(options, as_of=view.tree_seq)
    return query_verb(
        engine,
        actor,
        str(request["question"]),
        options,
        listeners,
        taken=taken(decisions, decision_id, chosen),
        branch={"run": run_id, "decision": decision_id, "take": list(chosen)},
        scope=request.get("width_scope"),
    )


def _changed_since(engine: Engine, view: RunView) -> bool:
    from memoir_engine.store import chain, state

    since = view.tree_seq or 0
    return engine.db.read(lambda tx: state.changed_between(tx, since, chain.seq(tx)))


def taken(decisions: Sequence[Decision], decision_id: int, take: Sequence[int]) -> dict[int, tuple[Taken, ...]]:
    """By level: what is followed down to the decision's own level, ranks unique per level from the number of choices down.

    What was taken stands where the best of what it replaces stood, and before the others where nothing was chosen.
    """
    from memoir_engine.query.traverse import Taken

    at = next(decision for decision in decisions if decision.id == decision_id)
    above = [decision for decision in decisions if decision.level < at.level]
    repeated = {level: _chosen([d for d in above if d.level == level]) for level in {d.level for d in above}}
    beside = _chosen([d for d in decisions if d.level == at.level and d.id != decision_id])
    was = [rank for _, _, rank in _chosen([at])]
    first = sum(rank > max(was) for _, _, rank in beside) if was else 0
    ordered = [(parent, category, "repeated") for parent, category, _ in beside]
    ordered[first:first] = [(at.parent_id or 0, category, "reviewer") for category in take]
    here = tuple(Taken(parent, category, len(ordered) - place, by) for place, (parent, category, by) in enumerate(ordered))
    higher = {level: tuple(Taken(*each, "repeated") for each in rows) for level, rows in repeated.items()}
    return {**higher, at.level: here}


def _chosen(decisions: Sequence[Decision]) -> list[tuple[int, int, int]]:
    """(parent, category, rank), best first."""
    rows = [
        (decision.parent_id or 0, option.category_id, option.rank)
        for decision in decisions
        for option in decision.options
        if option.rank is not None
    ]
    return sorted(rows, key=lambda row: -row[2])


def _checked(decisions: Sequence[Decision], decision_id: int, take: tuple[int, ...]) -> tuple[int, ...]:
    decision = next((each for each in decisions if each.id == decision_id), None)
    offered = {option.category_id for option in decision.options} if decision else set()
    chosen = tuple(dict.fromkeys(given.category(each) for each in take))
    problem = ""
    if decision is None:
        problem = "this run made no such decision"
    elif not chosen:
        problem = "nothing is to be taken"
    elif not offered.issuperset(chosen):
        problem = "not all of them were offered there"
    elif set(chosen) == set(decision.chosen):
        problem = "that is what was chosen"
    if problem:
        raise ChoiceNotOffered(decision_id=decision_id, category_ids=list(take), problem=problem)
    return chosen


def _refuse(run_id: str, problem: str) -> None:
    advice = "Give the run of a question that was answered; runs.list(verb='query') shows them."
    raise InvalidSetting(name="run_id", value=run_id, problem=problem, advice=advice)
