"""Extractive summaries: the sentences most similar to the whole that repeat each other least.

Invariant: a summary is never longer than `max_chars`, holds the text's own sentences in the text's own order, and is the same
every time. Only if no sentence fits is one cut, at a word's end if it has one.
Source: offline-model §4.5 (centroid + MMR 0.7; digits and names up, questions down).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memoir_engine.text.sentences import Sentence, split

Tokenise = Callable[[str], list[str]]
Matrix = NDArray[np.float32]

RELEVANCE = 0.7  # against 0.3 for being unlike what is already taken
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w’'-]+")


def summarise(text: str, *, max_chars: int, tokenise: Tokenise) -> str:
    """Return at most `max_chars` characters of the text's sentences, joined by single spaces."""
    sentences = [sentence for sentence in split(text) if sentence.kind != "heading"] or split(text)
    flat = [" ".join(sentence.text.split()) for sentence in sentences]
    taken: list[int] = []
    left = max_chars + 1  # the first sentence needs no space before it
    for index in rank(sentences, tokenise):
        if len(flat[index]) < left:
            taken.append(index)
            left -= len(flat[index]) + 1
    if taken or not flat:
        return " ".join(flat[index] for index in sorted(taken))
    return cut_at_word(flat[rank(sentences, tokenise)[0]], max_chars)


def rank(sentences: Sequence[Sentence], tokenise: Tokenise) -> list[int]:
    """Rank sentence indices, best first, each weighed against those before it. O(n²) for n sentences."""
    weights = _weights([tokenise(sentence.text) for sentence in sentences])
    if not weights.size:
        return list(range(len(sentences)))
    centre = weights.sum(axis=0)
    relevance = weights @ (centre / (np.linalg.norm(centre) or 1.0)) * _bonuses(sentences)
    likeness = weights @ weights.T
    nearest = np.zeros(len(sentences), np.float32)
    open_ = np.ones(len(sentences), bool)
    order: list[int] = []
    for _ in sentences:
        gain = np.where(open_, RELEVANCE * relevance - (1 - RELEVANCE) * nearest, -np.inf)
        best = int(gain.argmax())  # ties fall to the earlier sentence
        order.append(best)
        open_[best] = False
        nearest = np.maximum(nearest, likeness[best])
    return order


def cut_at_word(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    head = text[: max_chars + 1]
    return (head[: head.rfind(" ")] if " " in head[1:] else head[:max_chars]).rstrip(" ,;:–-")


def _weights(tokens: Sequence[list[str]]) -> Matrix:
    """Return TF-IDF rows of unit length, (n_sentences, n_terms)."""
    vocabulary = {term: at for at, term in enumerate(dict.fromkeys(term for row in tokens for term in row))}
    counts = np.zeros((len(tokens), len(vocabulary)), np.float32)
    for index, row in enumerate(tokens):
        np.add.at(counts[index], [vocabulary[term] for term in row], 1.0)
    if not counts.size:
        return counts
    rarity = np.log1p(len(tokens) / (counts > 0).sum(axis=0))
    weighted = np.log1p(counts) * rarity
    unit: Matrix = (weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-9)).astype(np.float32)
    return unit


def _bonuses(sentences: Sequence[Sentence]) -> Matrix:
    def bonus(text: str) -> float:
        return (1 + 0.1 * bool(re.search(r"\d", text)) + 0.1 * bool(_NAME.search(text))) * (0.5 if text.endswith("?") else 1)

    return np.array([bonus(sentence.text) for sentence in sentences], np.float32)
