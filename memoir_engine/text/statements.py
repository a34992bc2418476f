"""What somebody who speaks tells: the clauses of a turn that are worth remembering, each with its span.

Invariant: `text[s.start:s.end]` is what was said; statements are in order and disjoint; no question is a statement.
Worth is counted in words: what a clause tells that was not just said before it, more where it is about the speaker, names a
time or a number, less where it speaks to the other, praises, or is about nobody. Weights are whole words, set by what such
clauses do in English; results hardly move where they do. Pure. Source: verified/offline-model.md §4.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoir_engine.results.facts import FactType
from memoir_engine.text.fact_types import fact_type
from memoir_engine.text.leading import opening
from memoir_engine.text.persons import about_them
from memoir_engine.text.sentences import Sentence, split
from memoir_engine.text.terms import tokens

LEAST = 5.0  # from here on a clause is worth remembering
SAID_BEFORE = 0.3  # what a word counts that stands in the turn before
MOST_WORDS = 15  # that count; more do not make a clause truer
OWN = 2.0  # it is about the speaker
STANDING = 2.0  # what a form would ask of the speaker: home, work, diet, whom they love
TIMED = 2.0
NUMBERED = 1.0
BELONGING = 1.0  # "my", "our"
TO_THE_OTHER = -3.0  # "you", "your"
PRAISE = -3.0
NOBODY = -2.0
NAMED = 4.0  # it says of somebody by name, or of a thing by its name, what is so


@dataclass(frozen=True, slots=True)
class Statement:
    """content: in the third person, without its subject where that is the speaker. worth: in words, from LEAST on."""

    start: int
    end: int
    content: str
    type: FactType
    own: bool
    worth: float


_NO_NAMES = (
    "I|It|He|She|They|We|You|This|That|These|Those|There|Here|What|Who|Why|How|When|Where|Which|My|Our|Your|Their|His|Her"
    "|Its|No|Yes"
    "|Thanks|Wow|Yeah|Hey|Hi|Oh|So|And|But|Not|Just|Also|Then|Now|If|As|At|On|For|To|By|With|All|Some|Every|Everyone|Everything"
    "|Someone|Something|Nothing|Anything|One|Being|Having|Let|Even|Although|Though|Because|Since|While|Looks|Sounds|Seems|Feels"
    "|The|A|An|In"
).split("|")
_CLAUSE = re.compile(
    r"(?:;\s+|\s+[-–—]\s+|,?\s+(?:and|but|so|also|plus)\s+(?=(?:i|we|my|our)\b)|,\s+(?=(?:i|we)(?:['’]\w+)?\s+\w+))",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:(?<!World War )I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_OWN = re.compile(
    r"(?:^|[,;:—–-]\s*|\b(?:and|but|so|because|since|that|when|while|as|if)\s+)(?:I|we|(?:my|our) \w+)\b", re.IGNORECASE
)
_DROPPED = re.compile(
    r"^(?:just|finally|still|also|recently|been|gonna|going|got|had|went|trying|started|took|working|can['’]?t wait"
    r"|planning|keen"
    r"|excited|looking forward|moved|bought|met|saw|loving|thinking|hoping|studying|learning)\b",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|yours|yourself|ya|u)\b", re.IGNORECASE)
_MY = re.compile(r"\b(?:my|our)\s+\w", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|lately|this (?:week|month|year|weekend|morning|summer|past)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|september|october"
    r"|november|december"
    r"|since|years?|months?|weeks?|days?|once|always|usually|every)\b",
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"^(?:that['’]?s|that is|that sounds|sounds?|it['’]?s (?:great|awesome|amazing|nice|cool)|it must|must|that must"
    r"|(?:so )?glad"
    r"|happy for|good luck|keep|take care|have fun|see you|bye|no (?:worries|problem)|you['’]re|enjoy|congrat\w*|way to go"
    r"|(?:it |that )?looks|this is|(?:i )?hope|i bet|i['’]m (?:so |really )?(?:glad|happy|proud|sorry) (?:you|for|of you"
    r"|to hear|that you)"
    r"|love (?:that|the|your)|(?:so )?(?:good|nice|great) to|what an?|how)\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:live|living|reside|moved|work|job|am|i['’]m|is|name|born|married|engaged|divorced|dating|broke up|split up|speak|study"
    r"|studying|allergic|vegan|vegetarian|eat|drink|prefer|love|like|enjoy|hate|favou?rite|have|own|drive|play|want|plan|decided|stopped|quit"
    r"|started|sold|no longer|anymore)\b",
    re.IGNORECASE,
)
_SMALL = "of|the|de|la|le|el|al|von|van|and|on|in|for|to|du|des|der|ibn|y|e|a|dos|da|di|[a-z]+"
_NAME = r"(?:[A-Z][\w’'&.()/-]*|\d+)"
_NAMED = re.compile(  # a name of several words with its verb or clause; a quality "of" a name; a single name that is what it is
    rf"^(?:(?:The|In|What|Which|Where)\b[^,?]*?\s(?:{_NAME})\b"
    rf"|(?:(?:The|An?)\s)?(?!(?:{'|'.join(_NO_NAMES)})\b){_NAME}(?:,?\s(?:{_SMALL}))*\s{_NAME}(?:[\s,]|['’])"
    rf"|(?!(?:{'|'.join(_NO_NAMES)})\b)[A-Z]\w+(?:['’]s(?:\s[a-z]+){{1,2}})?,?\s(?:(?:who|which|whose|that)\s)?(?:is|was|are|were|has|holds|plays|speaks|works"
    rf"|worked|lives|died|spoke)\b)"
)
_TWO_NAMES = re.compile(  # a name at the beginning and another one said of it, not called to: "Krauss is based in Munich"
    rf"^(?!(?:{'|'.join(_NO_NAMES)})\b)[A-Z][\w'’-]+[^!?]*?\b(?:is|was|are|were|has|had|in|of|from|by|for|at|on|after"
    rf"|to)\s(?:the\s)?"
    r"(?:[a-z]+\s)?[A-Z]\w+"
)
_PRONOUN = re.compile(r"(?:they|it|he|she)\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def statements(text: str, before: str = "") -> list[Statement]:
    """text: one turn of a person. before: the turn it answers to, "" for none."""
    known = frozenset(tokens(before))
    found = []
    for start, end in _clauses(text):
        said = text[start:end]
        worth = _worth(said, known)
        if worth >= LEAST:
            content = about_them(said)
            found.append(Statement(start, end, content, fact_type(content), bool(_FIRST.search(said)) or _drops(said), worth))
    return found


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, cut again where a second clause has a subject of its own; without what they open with.

    A question about somebody with its answer behind it ("Where is Leeds? It is in England") is one: the answer names nobody.
    """
    asked: Sentence | None = None
    for sentence in _sentences(text):
        if sentence.text.rstrip("\"'”’)").endswith(("?", "？")):
            asked = sentence
            continue
        question, asked = asked, None
        if question is not None and _answers(question.text, sentence.text):
            yield question.start, sentence.end
            continue
        start = sentence.start
        for cut in _CLAUSE.finditer(sentence.text):
            if _tells(text[start : sentence.start + cut.start()]) and _tells(text[sentence.start + cut.end() : sentence.end]):
                yield _opened(text, start, sentence.start + cut.start())
                start = sentence.start + cut.end()
        yield _opened(text, start, sentence.end)


def _answers(question: str, said: str) -> bool:
    """Whoever asks after a name and goes on with a pronoun tells of that name."""
    return bool(_PRONOUN.match(said) and _NAMED.match(question)) and not (_YOU.search(question) or _FIRST.search(question))


def _sentences(text: str) -> Iterator[Sentence]:
    """A label before what is said ("Update: …") makes no line of a table of it."""
    for sentence in split(text):
        if sentence.kind != "row" or ":" not in sentence.text:
            yield sentence
            continue
        label = sentence.start + sentence.text.index(":") + 1
        for inner in split(text[label : sentence.end] + "\n."):
            if label + inner.end <= sentence.end:
                yield Sentence(label + inner.start, label + inner.end, inner.text, inner.kind)


def _opened(text: str, start: int, end: int) -> tuple[int, int]:
    return start + opening(text[start:end]), end


def _tells(piece: str) -> bool:
    """Whether it can stand alone: it has words of content, and somebody it is about."""
    return len(tokens(piece)) >= 2 and bool(_OWN.search(piece) or _DROPPED.match(piece))


def _drops(said: str) -> bool:
    return bool(_DROPPED.match(said))


def _worth(said: str, known: frozenset[str]) -> float:
    words = tokens(said)
    if not words or said.isspace():
        return 0.0
    new = len(frozenset(words) - known)
    told = min(MOST_WORDS, (1 - SAID_BEFORE) * new + SAID_BEFORE * len(words))
    mine, yours = bool(_FIRST.search(said)), bool(_YOU.search(said))
    own = bool(_OWN.search(said)) or _drops(said)
    return (
        told
        + OWN * own
        + STANDING * (own and not yours and bool(_STANDING.search(said)))
        + TIMED * bool(_TIME.search(said))
        + NUMBERED * bool(_DIGIT.search(said))
        + BELONGING * bool(_MY.search(said))
        + TO_THE_OTHER * yours
        + PRAISE * bool(_PRAISE.match(said))
        + (NAMED if _NAMED.match(said) or _TWO_NAMES.match(said) else NOBODY) * (not mine and not yours)
    )
