"""The offline model's answer: the chunks' own sentences that share most with the question, each with its number.

Invariant: every sentence stands in the chunk it cites, word for word; where no word of the question occurs, it says so
and cites nothing. It makes no promise to notice that a question cannot be answered: that is not separable by words.
Source: offline-model §4.6.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memoir_engine.prompts.answer import NOT_ANSWERED, NumberedChunk, read
from memoir_engine.text.sentences import cut_at_word, split
from memoir_engine.text.terms import search_tokens, tokens

MOST_SENTENCES = 3
LEAST_GAIN = 0.3  # of the first sentence's score that a further one must bring by words not yet said
LEAST_NEW = 0.25  # of all that is asked that those words must be
AGAIN = 0.5  # what words count that another chunk has said already
NEAR = 1.25  # two sentences apart at most, one likely goes on with what the other began
PRIOR = 0.02  # per place in the order of reading
SHORT = 10  # words; a shorter sentence is not the better for it
MOST_CHARS = 600  # of one sentence; what is longer is no sentence but a table or a list without marks

_WHEN = re.compile(r"\b(when|what (?:year|date|day|month|time)|how long|since when)\b|いつ|何年|何月|何時", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\bhow (?:many|much|old|far|high|large|big|often)\b|\b(?:costs?|price|earn(?:ed|s)?|paid|pays?)\b|いくつ|いくら|何人|何個",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|\w+day)\b")
_NUMBER = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|half)\b")
_NOTE = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class _Candidate:
    passage: NumberedChunk
    place: int  # among the sentences of its passage
    text: str
    terms: frozenset[str]  # the question's terms in it
    weight: float  # what each term counts: length, place, kind of question


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: an answer prompt. The reply fits `prompts.answer.Reply`; `schema` offers no choice."""
    asked = read(text)
    wanted = frozenset(search_tokens(asked.question))
    candidates = [c for passage in asked.passages for c in _candidates(passage, wanted, asked.question)]
    chosen = _choose(candidates, _rarity(wanted, asked.passages))
    return {"answer": " ".join(_cite(candidate) for candidate in chosen) or NOT_ANSWERED}


def _candidates(passage: NumberedChunk, wanted: frozenset[str], question: str) -> Iterable[_Candidate]:
    around = wanted & frozenset(search_tokens(" ".join((*passage.path, passage.text))))
    nearness = (1 + len(around) / max(1, len(wanted))) * max(0.5, 1 - PRIOR * (passage.number - 1))
    for place, sentence in enumerate(split(passage.text)):
        found = wanted & frozenset(search_tokens(sentence.text))
        if found and sentence.kind != "heading":
            told = 0.7 if sentence.kind == "row" else 1.0
            weight = told * nearness * _fit(question, sentence.text) / math.sqrt(max(SHORT, len(tokens(sentence.text))))
            yield _Candidate(passage, place, sentence.text, found, weight)


def _fit(question: str, sentence: str) -> float:
    """Return a factor: higher for a sentence with the time or number that is asked for, lower for a question."""
    asks_time, asks_number = bool(_WHEN.search(question)), bool(_HOW_MANY.search(question))
    fits = (asks_time and _TIME.search(sentence)) or (asks_number and _NUMBER.search(sentence))
    return (1.3 if fits else 1.0) * (0.5 if sentence.rstrip().endswith(("?", "？")) else 1.0)


def _rarity(wanted: frozenset[str], passages: tuple[NumberedChunk, ...]) -> dict[str, float]:
    """Weigh each term by how few passages contain it."""
    texts = [frozenset(search_tokens(passage.text)) for passage in passages]
    return {term: math.log1p(len(texts) / max(1, sum(term in words for words in texts))) for term in wanted}


def _choose(candidates: list[_Candidate], rarity: dict[str, float]) -> list[_Candidate]:
    """Choose up to three sentences: the best, then those that add most of what is asked and not yet covered."""
    chosen: list[_Candidate] = []
    said: frozenset[str] = frozenset()
    first = 0.0
    while candidates and len(chosen) < MOST_SENTENCES:
        added = [_told(c.terms - said, rarity) + _again(c, chosen, said, rarity) for c in candidates]
        gains = [value * c.weight * _nearness(c, chosen) for value, c in zip(added, candidates, strict=True)]
        at = max(range(len(gains)), key=lambda index: (gains[index], -index))
        first = first or gains[at]
        if gains[at] <= 0 or gains[at] < LEAST_GAIN * first or (chosen and added[at] < LEAST_NEW * _told(rarity, rarity)):
            break
        chosen.append(candidates[at])
        said |= candidates[at].terms
        candidates = candidates[:at] + candidates[at + 1 :]
    return chosen


def _told(terms: Iterable[str], rarity: dict[str, float]) -> float:
    return sum(rarity[term] for term in sorted(terms))  # sorted: sums of floats depend on their order, sets on the process


def _again(candidate: _Candidate, chosen: list[_Candidate], said: frozenset[str], rarity: dict[str, float]) -> float:
    """Return a bonus for another passage that covers all terms too: two groups may meet on the same day."""
    heard = any(one.passage is candidate.passage for one in chosen)
    return 0.0 if heard or len(said) < 2 or not said <= candidate.terms else AGAIN * _told(said, rarity)


def _nearness(candidate: _Candidate, chosen: list[_Candidate]) -> float:
    near = any(one.passage is candidate.passage and abs(one.place - candidate.place) <= 2 for one in chosen)
    return NEAR if near else 1.0


def _cite(candidate: _Candidate) -> str:
    sentence = cut_at_word(" ".join(candidate.text.split()), MOST_CHARS)
    unmarked = _NOTE.sub(r"(\1)", sentence)  # a note's [3] would read as a citation
    return f"{unmarked} [{candidate.passage.number}]"
