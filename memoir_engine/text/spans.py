"""Locate quotes in a text, read the citations of an answer, and find the spans of a chunk that support a statement.

A citation is a number in square brackets: [2], [1][3], [1, 3], [2-4]; it belongs to the statement it follows. A verbatim
statement is supported by its own span; any other by the sentences that share most of its words.
Invariant: the engine computes all spans, a model claims none. A quote matches up to case, white space and the shape of quotation
marks and dashes; a missing quote gives None, never a guess. Claims come in the order of the answer, without their citations.
Supporting spans lie inside the chunk, in order, disjoint; no shared word, no span. Pure, O(text).
Source: CHUNK 7.3; DESIGN §9 (support of an answer's sentence by a chunk is computed by us and named so).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memoir_engine.text.sentences import Sentence, split

_SAME = {
    **dict.fromkeys("‘’‚‛`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
}
_EDGES = " .…,;:!?\"'“”‘’«»()[]*_-–—"
# Thai to Tibetan, Burmese, Khmer, Chinese, Japanese, Korean with its endings
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
).match
LEAST = 3  # letters or digits; fewer stand anywhere


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find a quote exactly, else by its words in their order; whole words are preferred to parts of longer ones.

    Quotation marks and dots around it do not count.
    """
    words = quote.strip()
    if sum(map(str.isalnum, words)) < min(LEAST, max(1, sum(map(str.isalnum, text)))):
        return None
    at, whole = _at(words, text)
    if whole:
        return at, at + len(words)
    plain, places = _plain(text)
    folded = _plain(words.strip(_EDGES))[0].strip()
    near, whole = _at(folded, plain)
    if at >= 0 and not whole:
        return at, at + len(words)
    return None if near < 0 else (places[near], places[near + len(folded) - 1] + 1)


def _at(words: str, text: str) -> tuple[int, bool]:
    """Return the first place as whole words, and True; else the first place of any kind, or -1."""
    first = at = text.find(words) if words else -1
    while at >= 0:
        if not _within(text, at) and not _within(text, at + len(words)):
            return at, True
        at = text.find(words, at + 1)
    return first, False


def _within(text: str, at: int) -> bool:
    """Return True inside a word. Scripts without spaces between words have none to split."""
    sides = text[at - 1 : at + 1]
    return 0 < at < len(text) and sides.isalnum() and not any(map(_UNSPACED, sides))


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters the place it comes from."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for char in " " if sign.isspace() else _SAME.get(sign, sign.casefold()):
            if char == " " and signs and signs[-1] == " ":
                continue
            signs.append(char)
            places.append(place)
    return "".join(signs), places


_MARK = re.compile(r"[\[【]\s*(\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*)\s*[\]】]")
_MARKED = re.compile(rf"(?<!\s)\s*+{_MARK.pattern}")  # from where a run of blanks begins: looked through once
_LEADING = re.compile(rf"(?:\s*{_MARK.pattern})+")


@dataclass(frozen=True)
class Claim:
    """One statement of an answer. `numbers` are the chunks it cites; `answer[start:end]` includes its citations."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


MOST_CITED = 999  # a larger number that no chunk has, as a year, is no citation
_ODD_MARK = re.compile(
    r"(?:\\?[\[［【〔]){1,2}\s*(?:[#^]|(?:chunk|source|passage)s?\s+#?)?\s*"
    r"(\d{1,6}(?:(?:\s*[,;、，；–-]\s*|\s+(?:and|und|et|y|e|en|och)\s+|\s*&\s*)#?\d{1,6})*)"
    r"\s*(?:†[^\]］】〕]{0,40})?\s*(?:\\?[\]］】〕]){1,2}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_NUMBER_OR_RANGE = re.compile(r"(\d+)(?:\s*([–-])\s*#?(\d+))?")


def usual_marks(text: str) -> str:
    """Return the text with its citations in one writing, as [2] and [1, 3], where it has [chunk 2], ［２］, [^2] or [1 and 3]."""

    def mark(found: re.Match[str]) -> str:
        is_usual = _MARK.fullmatch(found[0]) and found[0].isascii()
        if is_usual or any(int(number) > MOST_CITED for number in _DIGITS.findall(found[1])):
            return found[0]
        parts = (f"{int(a)}{dash}{int(b) if b else ''}" for a, dash, b in _NUMBER_OR_RANGE.findall(found[1]))
        return f"[{', '.join(parts)}]"

    return _ODD_MARK.sub(mark, text)


def cited_numbers(text: str, count: int) -> list[int]:
    """Return every cited number, in order, with repetitions; a range is expanded as far as `count`."""
    numbers: list[int] = []
    for mark in _MARK.finditer(text):
        for part in re.split(r"\s*[,;]\s*", mark.group(1)):
            first, *last = (int(number) for number in re.split(r"\s*[–-]\s*", part))
            numbers.extend(range(first, min(last[-1], count) + 1) if last else [first])
    return numbers


def renumber(text: str, numbers: Mapping[int, int], count: int) -> tuple[str, list[int]]:
    """Return the text with other numbers in its citations, each in brackets of its own, and the numbers that were left out.

    count: of the chunks that could be cited. A number without another is left out; what is no citation stays as it is written.
    """
    lost: dict[int, None] = {}

    def mark(found: re.Match[str]) -> str:
        cited = dict.fromkeys(number for number in cited_numbers(found[0], count) if number <= max(count, MOST_CITED))
        if not cited:
            return found[0]
        lost.update(dict.fromkeys(number for number in cited if number not in numbers))
        kept = "".join(f"[{numbers[number]}]" for number in cited if number in numbers)
        blank = found[0][: len(found[0]) - len(found[0].lstrip())]
        return f"{blank}{kept}" if kept else ""

    return _MARKED.sub(mark, text), list(lost)


def without_marks(text: str) -> str:
    """Return the text on one line without its citations."""
    return " ".join(_MARKED.sub("", text).split())


def claims(answer: str, count: int) -> list[Claim]:
    """Return the answer's statements with the chunk numbers each cites, those in 1…count only."""
    listed = []
    for start, end in _stretches(answer):
        text = without_marks(answer[start:end])
        numbers = (number for number in dict.fromkeys(cited_numbers(answer[start:end], count)) if 1 <= number <= count)
        if text:
            listed.append(Claim(start, end, text, tuple(numbers)))
    return listed


def _stretches(answer: str) -> list[tuple[int, int]]:
    """Return sentence spans; marks at the start of a sentence belong to the one before, which they follow."""
    spans: list[tuple[int, int]] = []
    for sentence in split(answer):
        start = sentence.start
        leading = _LEADING.match(answer, start, sentence.end)
        if leading and spans:
            spans[-1] = (spans[-1][0], leading.end())
            start = leading.end()
        start += len(answer[start : sentence.end]) - len(answer[start : sentence.end].lstrip())
        if start < sentence.end:
            spans.append((start, sentence.end))
    return spans


Tokenise = Callable[[str], list[str]]

MAX_SENTENCES = 3
LEAST_SHARE = 0.15  # of the statement's terms that a further sentence must add


@dataclass(frozen=True)
class Support:
    """`spans` are offsets into the chunk's text; they contain a `share` in [0, 1] of the statement's terms."""

    spans: tuple[tuple[int, int], ...]
    share: float


def support(statement: str, chunk: str, *, tokenise: Tokenise) -> Support:
    """Find the support of one sentence of an answer, with or without its citations."""
    plain = without_marks(statement)
    verbatim = _find_verbatim(plain, chunk)
    if verbatim:
        return Support((verbatim,), 1.0)
    terms = set(tokenise(plain))
    chosen, covered = _cover(terms, [(sentence, terms & set(tokenise(sentence.text))) for sentence in split(chunk)])
    share = len(covered) / len(terms) if terms else 0.0
    return Support(tuple(sorted((sentence.start, sentence.end) for sentence in chosen)), round(share, 4))


def _find_verbatim(statement: str, chunk: str) -> tuple[int, int] | None:
    """Find the statement verbatim, ignoring spacing and the end mark."""
    words = statement.rstrip(".!?。！？").split()
    if not words:
        return None
    match = re.search(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)(?:[.!?。！？]+)?", chunk)
    return match.span() if match else None


def _cover(wanted: set[str], offered: list[tuple[Sentence, set[str]]]) -> tuple[list[Sentence], set[str]]:
    chosen: list[Sentence] = []
    covered: set[str] = set()
    while len(chosen) < MAX_SENTENCES and offered:
        best, terms = max(offered, key=lambda pair: (len(pair[1] - covered), -len(pair[0].text), -pair[0].start))
        new = terms - covered
        if not new or (chosen and len(new) / len(wanted) < LEAST_SHARE):
            break
        chosen.append(best)
        covered |= terms
    return chosen, covered
