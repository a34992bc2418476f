"""BM25 over the filed chunks: what a question's safety net and its nearest examples are found by.

Two segments: a main one, and a small tail that every change is joined to. When the tail outgrows the main one they are
joined; when the mean length has drifted, all is built anew. Readers see whole states and wait for nobody.
Invariant: a state holds exactly what was taken in up to `high_water`; scores do not depend on how it is cut in segments.
Source: DESIGN §8 (each index keeps its own high-water seq), verified/store.md §2.2–2.3.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memoir_engine.index import shelf
from memoir_engine.index.documents import Documents, Keys, Tokenise, join, read
from memoir_engine.index.segment import Scores, Segment, build, merge, rarity

TAIL_DOCUMENTS = 512
TAIL_SHARE = 8  # or an eighth of the main segment, whichever is more
MOST_DRIFT = 0.1  # of the mean length since the segments were built
MOST_REMOVED = 0.25  # of the main segment's documents
_SAME_SCORE_DIGITS = 4  # what differs less differs by rounding, and ties fall to the lower key


class Hit(NamedTuple):
    key: int
    score: float


@dataclass(frozen=True)
class _State:
    """`main` is None while everything fits the tail."""

    high_water: int = 0
    main: Segment | None = None
    tail: Segment | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(segment for segment in (self.main, self.tail) if segment is not None)

    def __len__(self) -> int:
        return sum(segment.living for segment in self.segments)


class LexicalIndex:
    """Keys are chunk ids. Safe for any number of threads; one process writes a folder at a time."""

    def __init__(self, folder: Path | None, tokenise: Tokenise, tokeniser_id: str) -> None:
        self._folder = folder
        self._tokenise = tokenise
        self._tokeniser_id = tokeniser_id
        self._writing = threading.Lock()
        self._files: dict[int, str] = {}  # id(segment.documents) → its file; both are held by the state
        self._state = _State()
        self.unsaved: str | None = None  # why the state is not on disk; it is complete in memory all the same

    @classmethod
    def open(cls, folder: Path | None, tokenise: Tokenise, *, tokeniser_id: str) -> LexicalIndex:
        """What the folder holds, else an empty index: `high_water` 0 asks its owner for everything.

        folder: the index's own, with nothing else in it; None keeps nothing on disk.
        tokeniser_id: an index made by another one reads as empty.
        """
        index = cls(folder, tokenise, tokeniser_id)
        kept = shelf.load(folder, tokeniser_id) if folder else None
        if kept:
            index._restore(kept)
        return index

    @property
    def high_water(self) -> int:
        """The seq up to which everything is taken in."""
        return self._state.high_water

    @property
    def is_empty(self) -> bool:
        return len(self._state) == 0

    def __len__(self) -> int:
        return len(self._state)

    def take_in(self, added: Iterable[tuple[int, str]], removed: Iterable[int], seq: int) -> bool:
        """Bring the index to `seq`: `removed` go, then `added` (key, text) come; a key there already is replaced.

        False, and nothing done, where it is at `seq` or beyond: another thread was faster.
        """
        with self._writing:
            before = self._state
            if seq <= before.high_water:
                return False
            new = read(dict(added).items(), self._tokenise)
            gone = {*removed, *new.keys.tolist()}
            main, tail = (segment and segment.without(gone) for segment in (before.main, before.tail))
            self._put(_grown(seq, main, tail, new))
            return True

    def of(self, keys: Collection[int], texts: Callable[[list[int]], Mapping[int, str]]) -> LexicalIndex:
        """An index over these documents alone, in memory. texts: gives those of keys that this one does not hold."""
        wanted = set(keys)
        segments = [segment.without(segment.places.keys() - wanted) for segment in self._state.segments]
        held = {key for segment in segments for key, row in segment.places.items() if segment.alive[row]}
        made = LexicalIndex(None, self._tokenise, self._tokeniser_id)
        made._state = _whole(self.high_water, segments, read(texts(sorted(wanted - held)).items(), self._tokenise))
        return made

    def clear(self) -> None:
        """Forget everything, on disk too; the owner feeds it again from seq 0."""
        with self._writing:
            self._put(_State())

    def compact(self) -> None:
        """Build one segment anew: nothing of a removed text stays behind, not even its words."""
        with self._writing:
            if self._state.segments:
                self._put(_whole(self._state.high_water, self._state.segments))

    def scores(self, query: str) -> tuple[Keys, Scores]:
        """Keys in rising order with their scores, documents that share a word with the query only."""
        return together([self], query)

    def top(self, query: str, k: int, *, exclude: Collection[int] = ()) -> list[Hit]:
        """At most k hits, best first, ties by key; fewer where fewer documents share a word with the query."""
        keys, scores = self.scores(query)
        if exclude:
            wanted = ~np.isin(keys, np.fromiter(exclude, np.int64, len(exclude)))
            keys, scores = keys[wanted], scores[wanted]
        return best(keys, scores, k)

    def _put(self, state: _State) -> None:
        """Readers see it from here on; then it goes to disk, and failing there loses nothing but time at the next opening."""
        self._state = state
        if self._folder is None:
            return
        try:
            files = {id(s.documents): self._files.get(id(s.documents)) or shelf.save(self._folder, s) for s in state.segments}
            named = tuple((files[id(segment.documents)], segment) for segment in state.segments)
            shelf.publish(self._folder, shelf.Kept(state.high_water, named), self._tokeniser_id)
            self._files, self.unsaved = files, None
        except OSError as error:
            self.unsaved = str(error)

    def _restore(self, kept: shelf.Kept) -> None:
        segments = [segment for _, segment in kept.segments]
        main = segments.pop(0) if segments and len(segments[0].documents) > TAIL_DOCUMENTS else None
        self._files = {id(segment.documents): name for name, segment in kept.segments}
        self._state = _State(kept.high_water, main, segments[0] if segments else None)


def together(indexes: Sequence[LexicalIndex], query: str) -> tuple[Keys, Scores]:
    """`scores` as if one index held what all of these hold: how rare a term is, is counted over all. No key may be in two."""
    states = [index._state for index in indexes]
    segments = [segment for state in states for segment in state.segments]
    if not segments:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    documents = sum(map(len, states))
    weights = {}
    for term, times in Counter(indexes[0]._tokenise(query)).items():
        holding = sum(segment.held(term) for segment in segments)
        if holding:
            weights[term] = times * rarity(holding, documents)
    found = [segment.scores(weights) for segment in segments]
    keys = np.concatenate([keys for keys, _ in found])
    order = np.argsort(keys)
    return keys[order], np.concatenate([scores for _, scores in found])[order]


def best(keys: Keys, scores: Scores, k: int) -> list[Hit]:
    """At most k hits, best first, ties by key."""
    if k <= 0 or not len(keys):
        return []
    rounded = np.round(scores, _SAME_SCORE_DIGITS)
    if len(keys) > k:
        near = np.flatnonzero(rounded >= np.partition(rounded, -k)[-k])
        keys, scores, rounded = keys[near], scores[near], rounded[near]
    first = np.lexsort((keys, -rounded))[:k]
    return [Hit(int(keys[at]), float(scores[at])) for at in first]


def _grown(seq: int, main: Segment | None, tail: Segment | None, new: Documents) -> _State:
    before = [segment for segment in (main, tail) if segment is not None]
    mean_length = before[0].mean_length if before else new.mean_length
    if not before or _drifted(before, new):
        return _whole(seq, before, new)
    batch = build(new, mean_length)
    tail = merge(tail, batch) if tail else batch
    if main is None or len(tail.documents) > max(TAIL_DOCUMENTS, len(main.documents) // TAIL_SHARE):
        return _placed(seq, merge(main, tail) if main else tail)
    if len(main.documents) - main.living > MOST_REMOVED * len(main.documents):
        main = main.rest()
    return _State(seq, main, tail)


def _whole(seq: int, segments: Sequence[Segment], new: Documents | None = None) -> _State:
    """Everything built anew as one segment."""
    documents = join([*(segment.rest().documents for segment in segments), *([new] if new is not None else [])])
    return _placed(seq, build(documents, documents.mean_length))


def _placed(seq: int, segment: Segment) -> _State:
    """The tail while it is small, else the main one."""
    if not len(segment.documents):
        return _State(seq)
    return _State(seq, segment, None) if len(segment.documents) > TAIL_DOCUMENTS else _State(seq, None, segment)


def _drifted(segments: Sequence[Segment], new: Documents) -> bool:
    tokens = len(new.tokens) + sum(int(segment.documents.lengths[segment.alive].sum()) for segment in segments)
    mean = tokens / max(1, len(new) + sum(segment.living for segment in segments))
    pinned = segments[0].mean_length
    return abs(mean - pinned) > MOST_DRIFT * pinned
