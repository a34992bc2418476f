"""What a new category is called: the phrase that says best what the chunk, in its source, is about.

Invariant: a name is fit to be stored (text/names), is none of its own path, and at level 1 never a proper name.
Source: DESIGN §10; verified/offline-model.md §3.1 (names).
"""

from __future__ import annotations

from collections.abc import Iterable

from memoir_engine.llm.offline.phrases import Phrase, phrases
from memoir_engine.prompts.classify import Batch
from memoir_engine.text.names import clean, problem
from memoir_engine.text.terms import is_cjk, terms, tokens

GENERAL = "General"
LEAST_SCORE = 0.9
LEAST_AT_TOP = 2.2  # level 1 names from the text only where the text insists
NEAR_BEST = 0.8  # among phrases nearly as good, the one other chunks of the batch share


class Naming:
    """Names for the chunks of one batch."""

    def __init__(self, batch: Batch) -> None:
        self._options = batch.options
        self._favoured = frozenset(terms(batch.helper).counts)
        self._path = {stem for name in batch.options.path for stem in tokens(name)}
        self._others = [terms(text).counts for _, text in batch.chunks]

    def name(self, text: str, *, taken: Iterable[str], insist: bool) -> str | None:
        """None where nothing in the text would read as a topic. insist: on a good one, since the chunk could go elsewhere."""
        refused = {frozenset(tokens(name)) for name in taken}
        least = LEAST_AT_TOP if self._options.level == 1 else LEAST_SCORE if insist else 0.3
        fit = [found for found in phrases(text, favoured=self._favoured) if found.score >= least and self._is_fit(found, refused)]
        near_best = [found for found in fit if found.score >= NEAR_BEST * fit[0].score]
        return max(near_best, key=self._shared).name if near_best else None

    def _is_fit(self, phrase: Phrase, refused: set[frozenset[str]]) -> bool:
        if self._options.level == 1 and is_cjk(phrase.name):
            return False  # a run of characters says not whether it names a subject or somebody
        stems = set(phrase.stems)
        if (
            stems <= self._path
            or frozenset(stems) in refused
            or self._options.level == 1
            and (phrase.proper or not phrase.common)
        ):
            return False
        return problem(clean(phrase.name)) is None

    def _shared(self, phrase: Phrase) -> tuple[int, float]:
        return (sum(all(stem in counts for stem in phrase.stems) for counts in self._others), phrase.score)
