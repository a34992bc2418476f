"""Value of a review: remaining errors by share reviewed, riskiest first or at random, with and without teaching.

The tree is the data's own: its categories are made by hand, every leaf is given a few texts of its own, and then no new category
is allowed, so what the offline model files elsewhere than the label says is an error, and nothing else is. One body of texts is
filed and reviewed (a right one approved, a wrong one re-filed to its label); after each share a second one is filed, counted,
and undone. Errors are those of texts nobody looked at: of the first body's rest and of the second body, which came later.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data
from benchmarks.frame import Size, figure
from memoir_engine import IngestResult, Memory, ReviewItem, ReviewStep, count_tokens

FEATURES = ("ingest", "review")
READS = ("clinc", "newsgroups")
LEAVES = {"full": None, "small": 12}  # of each set
SHARES = (0, 5, 10, 20)  # percent of the first body
FIRST = 5  # percent at which the order is judged
AIM_ORDER, AIM_TAUGHT = 1.5, 1.0
WORDS, TOKENS = 120, 300  # of a text, at most: one chunk each
HELPER = "Short texts of one collection, one to a line."
OPEN, CLOSED = 1000, 1  # category_limit while the tree is made, and afterwards


class Labelled(NamedTuple):
    text: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Bodies:
    """Three sets of texts: `founding` are in their leaves from the start, `first` is reviewed, `later` comes afterwards."""

    name: str
    founding: list[Labelled]
    first: list[Labelled]
    later: list[Labelled]


@dataclass(frozen=True)
class Point:
    """State after a share of the review: errors it found, errors left in the first body, errors made in the second."""

    share: int
    reviewed: int
    found: int
    left: int
    later: int


def main(size: Size) -> dict[str, Any]:
    first, later, few = (800, 600, 10) if size == "full" else (60, 20, 1)
    leaves = LEAVES[size]
    bodies = [body for body in (clinc(first, later, few, leaves), newsgroups(first // 2, later, 3 * few, leaves)) if body]
    figures: list[dict[str, Any]] = []
    curves: dict[str, Any] = {}
    for body in bodies:
        with tempfile.TemporaryDirectory() as folder:
            wrong = founded(body, Path(folder) / "founded")
            taken = {
                f"{order}, {'with' if taught else 'without'} teaching": list(curve(body, Path(folder), order, taught))
                for order in ("risk", "random")
                for taught in (True, False)
            }
        curves[body.name] = {name: [point.__dict__ for point in points] for name, points in taken.items()}
        figures += _figures(body, wrong, taken)
    return {
        "title": "Errors left against the share reviewed",
        "sizes": {body.name: {"first": len(body.first), "later": len(body.later)} for body in bodies},
        "figures": figures,
        "curves": curves,
    }


def clinc(first: int, later: int, few: int, leaves: int | None) -> Bodies | None:
    return _bodies("CLINC", "clinc/train.jsonl", "clinc/val.jsonl", first, later, few, leaves)


def newsgroups(first: int, later: int, few: int, leaves: int | None) -> Bodies | None:
    return _bodies("newsgroups", "newsgroups/train.jsonl", "newsgroups/test.jsonl", first, later, few, leaves)


def founded(body: Bodies, folder: Path) -> int:
    """File the founding texts and the first body; return how many of the first body are wrong."""
    with _opened(folder, body, OPEN) as memory:
        for path in sorted({one.path[:level] for one in body.founding for level in range(1, len(one.path) + 1)}):
            memory.review.create(_leaves(memory).get(path[:-1]), path[-1])
    with _opened(folder, body, CLOSED) as memory:
        found = _filed(memory, "founding", body.founding)
        leaves, founding = _leaves(memory), memory.sources.chunks(1)
        for path in sorted({one.path for one in body.founding}):
            misplaced = [chunk.id for chunk in founding if found[chunk.id] == path != chunk.category_path]
            if misplaced:
                memory.review.refile_many(misplaced, leaves[path])
        labels = _filed(memory, "first", body.first)
        return sum(chunk.category_path != labels[chunk.id] for chunk in memory.sources.chunks(2))


def curve(body: Bodies, folder: Path, order: str, taught: bool) -> Iterator[Point]:
    """Yield the points of one way to review, on a copy of the filled memory."""
    copy = folder / f"{order}{taught}"
    shutil.copytree(folder / "founded", copy)
    with _opened(copy, body, CLOSED, teaching_examples=3 if taught else 0) as memory:
        labels = dict(zip((c.id for c in memory.sources.chunks(2)), (one.path for one in body.first), strict=True))
        queue = _queue(memory, order)
        leaves, done, found = _leaves(memory), 0, 0
        wrong = sum(item.path != labels[item.chunk_id] for item in queue)
        for share in SHARES:
            some, done = queue[done : share * len(queue) // 100], share * len(queue) // 100
            found += sum(item.path != labels[item.chunk_id] for item in some)
            steps = [_step(item, labels[item.chunk_id], leaves) for item in some]
            assert all(outcome.outcome == "done" for outcome in memory.review.apply(steps))
            yield Point(share, done, found, wrong - found, _later_errors(memory, body))
    shutil.rmtree(copy)


def _queue(memory: Memory, order: str) -> list[ReviewItem]:
    """Return the first body in the queue's order or at random."""
    page = memory.review.queue(source=2, limit=500)
    found = [*page.items]
    while page.after is not None:
        page = memory.review.queue(source=2, limit=500, after=page.after)
        found += page.items
    if order == "random":
        random.Random(7).shuffle(found)
    return found


def _step(item: ReviewItem, label: tuple[str, ...], leaves: dict[tuple[str, ...], int]) -> ReviewStep:
    step = uuid.uuid4().hex[:26]
    return ReviewStep(step, item.key, "approve") if item.path == label else ReviewStep(step, item.key, "refile", leaves[label])


def _later_errors(memory: Memory, body: Bodies) -> int:
    """File the second body, count its errors, and undo it."""
    result = _ingest(memory, "later", body.later)
    assert result.source_id is not None and result.action_id is not None
    chunks = memory.sources.chunks(result.source_id)
    wrong = sum(chunk.category_path != one.path for chunk, one in zip(chunks, body.later, strict=True))
    memory.review.undo(result.action_id)
    return wrong


def _filed(memory: Memory, name: str, texts: Sequence[Labelled]) -> dict[int, tuple[str, ...]]:
    """File texts; return each chunk's label."""
    result = _ingest(memory, name, texts)
    assert result.source_id is not None
    chunks = memory.sources.chunks(result.source_id)
    return {chunk.id: one.path for chunk, one in zip(chunks, texts, strict=True)}


def _ingest(memory: Memory, name: str, texts: Sequence[Labelled]) -> IngestResult:
    text = "".join(f"{one.text}{' -' * (TOKENS // 2 + 1 - count_tokens(one.text))}\n" for one in texts)  # no two fit one chunk
    return memory.ingest_text(text, name=name, contextual_helper=HELPER).raise_for_error()


def _leaves(memory: Memory) -> dict[tuple[str, ...], int]:
    return {one.path: one.id for one in memory.tree.all()}


def _opened(folder: Path, body: Bodies, limit: int, **settings: Any) -> Memory:
    depth = len(body.first[0].path)
    size: dict[str, Any] = {"chunk_min_tokens": 1, "chunk_max_tokens": TOKENS, "delimiters": ("\n",), "batch_size": 10}
    return Memory(data_dir=folder, model="offline", hierarchy_depth=depth, category_limit=limit, **size, **settings)


def _figures(body: Bodies, wrong: int, taken: dict[str, list[Point]]) -> list[dict[str, Any]]:
    risk, lot, plain = (taken[way] for way in ("risk, with teaching", "random, with teaching", "risk, without teaching"))
    rate, at = wrong / len(body.first), SHARES.index(FIRST)
    ahead = risk[at].found / max(risk[at].reviewed, 1) / rate
    found = f"{risk[at].found} of {risk[at].reviewed}; by lot {100 * rate:.0f} % of them can be expected"
    name, last = body.name, f"{SHARES[-1]} % reviewed"
    beside = f"of {plain[0].later}, beside the {risk[-1].found} that were corrected"
    kinds: dict[str, Any] = {"aim": AIM_TAUGHT, "better": "higher"}
    made = [
        figure(f"{name}: wrong before the review", [100 * rate], "%"),
        figure(f"{name}: found in the first {FIRST} %, to by lot", [ahead], "×", aim=AIM_ORDER, better="higher", note=found),
        figure(
            f"{name}: later errors less, {last} and taught", [plain[0].later - risk[-1].later], "errors", **kinds, note=beside
        ),
        figure(f"{name}: of these by teaching", [plain[-1].later - risk[-1].later], "errors", **kinds),
    ]
    for share, point, other in zip(SHARES, risk, lot, strict=True):
        note = f"{other.left + other.later} where reviewed by lot"
        made.append(figure(f"{name}: errors left, {share} % reviewed by risk", [point.left + point.later], "errors", note=note))
    return made


def _bodies(name: str, from_file: str, later_file: str, first: int, second: int, few: int, leaves: int | None) -> Bodies | None:
    """Read the bodies; None if the data is absent.

    few: founding texts of each leaf. leaves: use only the first so many.
    """
    train, later = _lines(from_file), _lines(later_file)
    if not train:
        return None
    known = set(sorted({one.path for one in train})[:leaves])
    train, later = ([one for one in rows if one.path in known] for rows in (train, later))
    random.Random(1).shuffle(train)
    random.Random(2).shuffle(later)
    count: dict[tuple[str, ...], int] = {}
    founding: list[Labelled] = []
    rest: list[Labelled] = []
    for one in train:
        count[one.path] = count.get(one.path, 0) + 1
        (founding if count[one.path] <= few else rest).append(one)
    return Bodies(name, founding, rest[:first], later[:second])


def _lines(name: str) -> list[Labelled]:
    """Read each text on one line, without duplicates and empty ones."""
    found = {_cut(row["text"]): tuple(row["path"]) for row in data.rows(name)}
    return [Labelled(text, labels) for text, labels in found.items() if text]


def _cut(text: str) -> str:
    """Return its beginning on one line, which fits one chunk."""
    words = text.split()[:WORDS]
    while count_tokens(" ".join(words)) >= TOKENS:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)
