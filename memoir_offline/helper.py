"""The offline model's contextual helper: what the source says of itself, its key terms, and its most telling sentences.

Invariant: an author or a date is written only where the source states it; else "unknown".
Source: offline-model §4.2 (author and date by rules, topic as key terms, summary extractive).
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from memoir_engine.prompts.helper import UNKNOWN, HelperInput, read
from memoir_engine.text.sentences import split, summarise
from memoir_engine.text.terms import terms, tokens

KEY_TERMS = 5
SUMMARY_CHARS = 700
HEAD_CHARS = 1500  # where a source states who wrote it and when

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = rf"({'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./](0[1-9]|1[0-2])(?:[-_./](0[1-9]|[12]\d|3[01]))?(?!\d)")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?[ -]+(?:of )?{_MONTH}\.?,?[ -]+((?:1[5-9]|20)\d\d)\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\.?\s+(?:(\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?((?:1[5-9]|20)\d\d)\b", re.IGNORECASE)
_JAPANESE = re.compile(r"((?:19|20)\d\d)年(?:\s*(\d{1,2})月(?:\s*(\d{1,2})日)?)?")
_YEAR = re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)(?!\d)")
_STATED = r"^[ \t>*_-]*(?:{})[*_]*[ \t]*[:：][*_]*[ \t]*(.+?)[ \t*_]*$"
_AUTHOR_LINE = re.compile(_STATED.format("authors?|written by|by|from|prepared by|著者|作成者"), re.IGNORECASE | re.MULTILINE)
_DATE_LINE = re.compile(_STATED.format("date|dated|created|written|published|updated|日付|作成日"), re.IGNORECASE | re.MULTILINE)
_ADDRESS = re.compile(r"<[^<>\n]*@[^<>\n]*>")
_BYLINE = re.compile(
    r"^[ \t*_]*(?:[Ww]ritten )?[Bb]y ((?:[A-Z][\w’'.-]*)(?: (?:[A-Z][\w’'.-]*|de|van|von|and)){0,5})[ \t*_]*(?:,|\||$)",
    re.MULTILINE,
)


def answer(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """text: a helper prompt. The reply fits `prompts.helper.HelperFields`."""
    facts = read(text)
    body = "\n\n".join(facts.chunks)
    return {
        "author": facts.author or _author(body[:HEAD_CHARS]) or UNKNOWN,
        "date": facts.dated or _date(facts.file_name, body[:HEAD_CHARS]) or UNKNOWN,
        "topic": _topic(facts, body) or UNKNOWN,
        "summary": summarise(_prose(body), max_chars=SUMMARY_CHARS, tokenise=tokens) or UNKNOWN,
    }


def iso_date(text: str) -> str | None:
    """The first date of a text in ISO 8601, as precise as it says; a bare year only where nothing more stands there."""
    found = [(match.start(), date) for match, date in _dates(text) if date]
    return min(found)[1] if found else None


def _dates(text: str) -> list[tuple[re.Match[str], str | None]]:
    iso = [(m, _iso(m[1], m[2], m[3])) for m in _ISO.finditer(text)]
    day_first = [(m, _iso(m[3], m[2], m[1])) for m in _DAY_FIRST.finditer(text)]
    month_first = [(m, _iso(m[3], m[1], m[2])) for m in _MONTH_FIRST.finditer(text)]
    japanese = [(m, _iso(m[1], m[2], m[3])) for m in _JAPANESE.finditer(text)]
    return iso + day_first + month_first + japanese


def _iso(year: str, month: str | None, day: str | None) -> str | None:
    number = _month(month) if month else None
    if number is None or not day:
        return f"{year}-{number:02d}" if number else year
    try:
        return date(int(year), number, int(day)).isoformat()
    except ValueError:  # the 31st of February
        return None


def _month(name: str) -> int | None:
    if name.isdigit():
        return int(name) if 1 <= int(name) <= 12 else None
    return next((at for at, month in enumerate(_MONTHS, start=1) if month.startswith(name.casefold()[:3])), None)


def _author(head: str) -> str | None:
    found = _AUTHOR_LINE.search(head) or _BYLINE.search(head)
    named = " ".join(_ADDRESS.sub("", found[1]).split()).replace(" ,", ",").strip(",;") if found else ""
    return named if 0 < len(named) <= 120 else None


def _date(file_name: str, head: str) -> str | None:
    stated = _DATE_LINE.search(head)
    opening = "\n".join(head.split("\n")[:12])  # a date further down is one the text speaks of
    years = _YEAR.findall(file_name)
    return (stated and iso_date(stated[1])) or iso_date(file_name) or iso_date(opening) or (years[0] if len(years) == 1 else None)


def _topic(facts: HelperInput, body: str) -> str:
    """Key terms: the commonest words of the text, those of title and headers counted up."""
    counted = terms(body)
    named = set(tokens(" ".join((facts.title or "", *facts.headings, re.sub(r"[\W_]+", " ", facts.file_name)))))
    scores = {term: count * (2 if term in named else 1) for term, count in counted.counts.items() if not term.isdigit()}
    best = sorted(scores, key=lambda term: (-scores[term], term))[:KEY_TERMS]
    return ", ".join(counted.surfaces[term] for term in best)


def _prose(body: str) -> str:
    """Running text where there is some: items and rows are telling only where nothing else is."""
    sentences = split(body)
    prose = [s for s in sentences if s.kind == "prose" and not _AUTHOR_LINE.match(s.text) and not _DATE_LINE.match(s.text)]
    return "\n\n".join(sentence.text for sentence in (prose or sentences))
