"""Split any text into sentences with their spans; summarise it by its own sentences; show its opening.

Headings, list items and table rows are units of their own; a paragraph may be wrapped over several lines. A summary takes the
sentences most similar to the whole that repeat each other least.
Invariant: `text[s.start:s.end] == s.text`; sentences are in order and disjoint; only white space, list and heading marks, and
rules lie between them. A summary is never longer than `max_chars`, keeps the order of the text, and is the same every time; only
if no sentence fits is one cut, at a word's end if it has one. An opening is read from the text, never stored beside it (DESIGN
§5).
Source: offline-model §4.5 (centroid + MMR 0.7; digits and names up, questions down).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["prose", "heading", "item", "row"]


@dataclass(frozen=True)
class Sentence:
    """`heading` includes short lines standing alone without an end mark, front matter, and the head of a table.

    `row` is a line of a table, or one that gives a name its value ("Date: 5 May").
    """

    start: int
    end: int
    text: str
    kind: Kind = "prose"


# Before a full stop these words rarely end a sentence. Those before numbers only ("No. 5") stand apart.
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr rev gen col capt lt sgt hon gov sen rep pres messrs mme mlle vs cf viz approx ca e.g i.e eg ie "
    "al ed eds vol vols ch fig figs eq pp bzw usw dept est ext inc ltd co corp bros mt nr tel".split()
)
_BEFORE_NUMBERS = frozenset("no nos p art sec para jan feb mar apr jun jul aug sep sept oct nov dec".split())

_LINE = re.compile(r"[^\n]+\n?|\n")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+")
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ROW = re.compile(r"[ \t]*\|")
_FRONT = re.compile(r"\s*---[ \t]*\n(?:[^\n]*\n){1,40}?---[ \t]*(?:\n|$)")
_VALUE = re.compile(r"[ \t]*[^\W\d_][\w-]*(?: [\w-]+)?[:：][ \t]*\S[^\n]{0,100}$")
_UNDERLINE = re.compile(r"[ \t]*+\n[ \t]*+(?:\|[ \t]*+)?:?-[-| :\t]*+(?:\n|$)")  # below the head of a table
_RULE = re.compile(r"[\s|:+=\-*_~#.^'\"`]*$")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|$)|[。！？｡]+[」』）\)\"”’]*")
_LAST_WORD = re.compile(r"(\w+(?:\.\w+)*)\.+$")
_NEXT = re.compile(r"\S")
_NUMBERED = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*\d{1,3}[.)][ \t]+\Z")
_PROSE_BELOW = re.compile(r"[ \t]*\n(?:[ \t]*\n)+(?![ \t]*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+)[ \t]*\S")
_MAX_HEADING = 70
_MAX_WORD = 64  # characters that are looked back through for an abbreviation


def split(text: str) -> list[Sentence]:
    sentences: list[Sentence | None] = []
    for start, end, kind in units(text):
        if kind in ("prose", "item"):
            for mark in _END.finditer(text, start, end):
                if mark.start() >= start and _ends(text, start, mark, end):
                    sentences.append(_trimmed(text, start, mark.end(), kind))
                    start = mark.end()
        sentences.append(_trimmed(text, start, end, kind))
    return [sentence for sentence in sentences if sentence is not None]


def units(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield paragraphs, headings, items and rows: (start behind any mark, end, kind)."""
    front = _FRONT.match(text)
    behind = front.end() if front else 0
    opened: tuple[int, int, Kind] | None = None
    kind: Kind | None
    for line in _LINE.finditer(text):
        start, end = line.start(), line.start() + len(line.group().rstrip())
        body, kind = _read_line(text, start, end)
        if kind is None and opened is None and body < end and _VALUE.match(text, body, end):
            kind = "row"
        if end < behind or (kind == "row" and _UNDERLINE.match(text, end)):
            kind = "heading"
        if opened and (kind is not None or body == end):
            yield _closed(text, *opened)
            opened = None
        if body == end:
            continue
        if kind in ("heading", "row"):
            yield body, end, kind
        else:
            opened = (opened[0], end, opened[2]) if opened else (body, end, kind or "prose")
    if opened:
        yield _closed(text, *opened)


def _read_line(text: str, start: int, end: int) -> tuple[int, Kind | None]:
    """Return the start of the line's words, and the kind of its mark; None if it continues the line before."""
    if end <= start or _RULE.match(text, start, end):
        return end, None
    quoted = _QUOTED.match(text, start, end)
    if quoted:
        start = quoted.end()
    for mark, kind in ((_HEADING, "heading"), (_ITEM, "item")):
        match = mark.match(text, start, end)
        if match:
            return match.end(), kind  # type: ignore[return-value]  # the pairs above hold kinds only
    return (start, "row") if _ROW.match(text, start, end) else (start, None)


def _closed(text: str, start: int, end: int, kind: Kind) -> tuple[int, int, Kind]:
    """Close a unit: one or two short lines without an end mark, standing alone, are a heading, numbered or not."""
    lines = text[start:end].split("\n")
    alone = kind == "prose" or (len(lines) == 1 and _is_numbered_heading(text, start, end))
    short = alone and len(lines) <= 2 and all(len(line) <= _MAX_HEADING for line in lines)
    return start, end, "heading" if short and not _END.search(text, start, end) and text[end - 1] not in ":;,]" else kind


def _is_numbered_heading(text: str, start: int, end: int) -> bool:
    """Tell "2. Membership" above a paragraph from an item of a list, whose neighbours are items, too."""
    above = text[max(0, start - 4 * _MAX_HEADING) : start]
    if not _NUMBERED.search(above) or not _PROSE_BELOW.match(text, end):
        return False
    line_above = above.rpartition("\n")[0].rstrip().rpartition("\n")[2]
    return not _ITEM.match(line_above)


def _trimmed(text: str, start: int, end: int, kind: Kind) -> Sentence | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    return Sentence(start, end, text[start:end], kind) if start < end else None


def _ends(text: str, start: int, mark: re.Match[str], end: int) -> bool:
    if mark.group()[0] in "。！？｡":
        return True
    behind = _NEXT.search(text, mark.end(), end)
    if behind is None:
        return True
    following = behind.group()
    if following.islower():
        return False
    last = _LAST_WORD.search(text, max(start, mark.start() - _MAX_WORD), mark.start() + 1)
    if mark.group()[0] != "." or last is None:
        return True
    return not _is_abbreviation(last.group(1), following)


def _is_abbreviation(word: str, following: str) -> bool:
    """Return True if the full stop behind the word is part of it. following: the next character of ink."""
    folded = word.casefold()
    initial = len(word) == 1 and word.isalpha() and word.isupper() and word != "I"
    dotted = "." in word and all(len(part) == 1 for part in word.split("."))  # U.S., e.g.
    return initial or dotted or folded in _ABBREVIATIONS or (folded in _BEFORE_NUMBERS and following.isdigit())


CHARS = 80
READ_CHARS = 400  # enough of a text for its opening, unless it begins with a page of blanks


def opening(text: str) -> str:
    """Return how a text begins, on one line; behind its front matter, if anything stands there."""
    front = _FRONT.match(text)
    behind = text[front.end() :] if front else ""
    return " ".join((behind if behind.strip() else text).split())[:CHARS]


Tokeniser = Callable[[str], list[str]]
Matrix = NDArray[np.float32]

RELEVANCE = 0.7  # against 0.3 for being unlike what is already taken
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w’'-]+")


def summarise(text: str, *, max_chars: int, tokenise: Tokeniser) -> str:
    """Return at most `max_chars` characters of the text's sentences, joined by single spaces."""
    sentences = [sentence for sentence in split(text) if sentence.kind != "heading"] or split(text)
    flat = [" ".join(sentence.text.split()) for sentence in sentences]
    taken: list[int] = []
    left = max_chars + 1  # the first sentence needs no space before it
    for index in rank_sentences(sentences, tokenise):
        if len(flat[index]) < left:
            taken.append(index)
            left -= len(flat[index]) + 1
    if taken or not flat:
        return " ".join(flat[index] for index in sorted(taken))
    return cut_at_word(flat[rank_sentences(sentences, tokenise)[0]], max_chars)


def rank_sentences(sentences: Sequence[Sentence], tokenise: Tokeniser) -> list[int]:
    """Rank sentence indices, best first, each weighed against those before it. O(n²) for n sentences."""
    weights = _tfidf([tokenise(sentence.text) for sentence in sentences])
    if not weights.size:
        return list(range(len(sentences)))
    centre = weights.sum(axis=0)
    bonuses = np.array([_bonus(sentence.text) for sentence in sentences], np.float32)
    relevance = weights @ (centre / (np.linalg.norm(centre) or 1.0)) * bonuses
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


def _tfidf(tokens: Sequence[list[str]]) -> Matrix:
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


def _bonus(text: str) -> float:
    return (1 + 0.1 * bool(re.search(r"\d", text)) + 0.1 * bool(_NAME.search(text))) * (0.5 if text.endswith("?") else 1)
