"""Pairs of statements of one person, weeks apart: what has changed, what may hold together, what is said again.

The pairs were written by several hands that had not seen the rules: `look_*.jsonl` to look at while rules are written,
`measure_*` to measure with. Each is told through `remember`: the older statement, then the newer one. Once alone, as a user of
its own; once in company, all as one user: first all older statements, then all newer ones, each in a conversation of its own.
An update is recognised when the newer statement outdates a fact of the older one, proposed when it is put to a person instead;
a restatement is recognised when it is found to be one, or merged. In company another pair may end a fact first (one person has no
ten homes): such a pair is left out, and their share is given.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from benchmarks.frame import ROOT, Size, figure, quiet
from memoir_engine import Memory, RememberResult

FEATURES = ("facts",)
TITLE = "What becomes of an older statement when a newer one is made, without a model"
FOLDER = ROOT / "benchmarks" / "pairs"
SMALL = 4  # pairs of each file
BEGAN, LATER = datetime(2026, 1, 5, 9, tzinfo=UTC), timedelta(weeks=6)
GONE = ("update", "conflict")
AIMS = {  # of a language and a half: what is asked for at least, and at most
    ("update", "recognised"): (0.45, "higher"),
    ("update", "recognised or proposed"): (0.70, "higher"),
    ("together", "wrongly outdated"): (0.01, "lower"),
    ("together", "proposed"): (0.10, "lower"),
}

Outcome = Literal["not drawn", "gone before", "outdated", "repeated", "proposed", "beside"]


@dataclass(frozen=True)
class Pair:
    """Two statements of one person. half: the file's first word, look or measure."""

    half: str
    id: str
    lang: str
    kind: str
    old: str
    new: str


@dataclass(frozen=True)
class Told:
    """What became of a pair, and which facts were drawn from its sentences."""

    pair: Pair
    outcome: Outcome
    olds: tuple[str, ...] = ()
    news: tuple[str, ...] = ()


@quiet()
def main(size: Size = "full") -> dict[str, Any]:
    pairs = load(SMALL if size == "small" else None)
    figures: list[dict[str, Any]] = []
    for company, tell in (("alone", alone), ("in company", together)):
        began = time.perf_counter()
        told = in_memory(pairs, tell)
        taken = time.perf_counter() - began
        figures += [made for half, listed in _by_half(told).items() for made in _figures(f"{half}, {company}", listed)]
        figures.append(figure(f"{company}: a pair told", [taken / max(1, len(pairs)) * 1_000], "ms"))
    counts = {lang: sum(pair.lang == lang for pair in pairs) for lang in sorted({pair.lang for pair in pairs})}
    return {"title": TITLE, "sizes": {f"pairs, {lang}": many for lang, many in counts.items()}, "figures": figures}


def load(most: int | None = None, named: str = "*") -> list[Pair]:
    """Return the pairs of all files whose names fit, the first `most` of each."""
    listed: list[Pair] = []
    for path in sorted(FOLDER.glob(f"{named}.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        half = path.stem.split("_")[0]
        listed += [Pair(half, **{key: row[key] for key in ("id", "lang", "kind", "old", "new")}) for row in rows[:most]]
    return listed


def in_memory(pairs: Sequence[Pair], tell: Any) -> list[Told]:
    """Tell the pairs to a new memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory(db_path=folder / "pairs.db", data_dir=folder / "data", model="offline") as memory:
            return list(tell(memory, pairs))


def alone(memory: Memory, pairs: Sequence[Pair]) -> Iterator[Told]:
    for at, pair in enumerate(pairs):
        user = f"user-{at}"
        olds = memory.remember([_said(f"old-{at}", pair.old, BEGAN)], user_id=user)
        yield _told(pair, at, olds.added, memory.remember([_said(f"new-{at}", pair.new, BEGAN + LATER)], user_id=user), False)


def together(memory: Memory, pairs: Sequence[Pair]) -> Iterator[Told]:
    user, gone = "everybody", set[str]()
    olds = []
    for at, pair in enumerate(pairs):
        result = memory.remember([_said(f"old-{at}", pair.old, BEGAN + timedelta(hours=at))], user_id=user)
        gone |= _gone(result)
        olds.append(result.facts)
    for at, pair in enumerate(pairs):
        moment = BEGAN + LATER + timedelta(hours=at)
        result = memory.remember([_said(f"new-{at}", pair.new, moment)], user_id=user)
        yield _told(pair, at, olds[at], result, f"old-{at}" in gone)
        gone |= _gone(result)


def _said(number: str, text: str, at: datetime) -> dict[str, str]:
    return {"role": "user", "id": number, "content": text, "at": at.isoformat()}


def _gone(result: RememberResult) -> set[str]:
    return {str(origin.message_id) for fact in result.outdated if fact.cause in GONE for origin in fact.origins}


def _told(pair: Pair, at: int, olds: Sequence[Any], result: RememberResult, went: bool) -> Told:
    """Name what happened to the facts of the older statement, the strongest first."""
    cited = f"old-{at}"
    texts = tuple(fact.content for fact in olds), tuple(fact.content for fact in result.facts)
    if not olds:
        return Told(pair, "not drawn", *texts)
    if any(_cites(fact, cited) for fact in result.outdated if fact.cause in GONE):
        return Told(pair, "outdated", *texts)
    if went:
        return Told(pair, "gone before", *texts)
    if any(_cites(fact, cited) for fact in (*result.duplicates, *result.merged)):
        return Told(pair, "repeated", *texts)
    if any(_cites(fact, cited) for proposal in result.proposals for fact in proposal.old):
        return Told(pair, "proposed", *texts)
    return Told(pair, "beside", *texts)


def _cites(fact: Any, message_id: str) -> bool:
    return any(origin.message_id == message_id for origin in fact.origins)


def _by_half(told: Sequence[Told]) -> dict[str, list[Told]]:
    """Sort by half and language, and English, German and Japanese each."""
    halves: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        halves[f"{one.pair.half} {one.pair.lang}"].append(one)
    return dict(sorted(halves.items()))


def _figures(name: str, told: Sequence[Told]) -> Iterator[dict[str, Any]]:
    for kind, good, bad in (("update", "outdated", ""), ("restatement", "repeated", "outdated"), ("together", "", "outdated")):
        listed = [one for one in told if one.pair.kind == kind and one.outcome != "gone before"]
        if not listed:
            continue
        shares = {"recognised": [good], "recognised or proposed": [good, "proposed"]} if good else {"proposed": ["proposed"]}
        shares |= {"wrongly outdated": [bad]} if bad else {}
        for what, outcomes in shares.items():
            value = sum(one.outcome in outcomes for one in listed) / len(listed)
            aim, better = AIMS.get((kind, what), (None, "lower" if "wrongly" in what else "higher"))
            note = f"of {len(listed)}" + (", drawn or not" if kind == "update" else "")
            yield figure(f"{name}: {kind}, {what}", [round(value, 4)], "share", aim=aim, better=better, note=note)  # type: ignore[arg-type]
    went = sum(one.outcome == "gone before" for one in told) / len(told)
    yield figure(f"{name}: ended by another pair before, and left out", [round(went, 4)], "share")


def _list(named: str, tell: Any) -> None:
    """Print what became of each pair, for those who write rules."""
    for one in in_memory(load(named=named), tell):
        print(f"{one.outcome:11} {one.pair.kind:11} {one.pair.id} {one.pair.old} → {one.pair.new}")
        print(f"{'':11} {' | '.join(one.olds)} → {' | '.join(one.news)}")


if __name__ == "__main__":
    import sys

    _list(sys.argv[1], together if "company" in sys.argv else alone)
