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
from memoir_engine.text.antecedents import begins_with_pronoun, kin_name, resolved
from memoir_engine.text.claimed import claimed
from memoir_engine.text.content import says_something
from memoir_engine.text.fact_types import fact_type
from memoir_engine.text.fields import filled_in
from memoir_engine.text.leading import front, opening
from memoir_engine.text.mentioned import opening_name
from memoir_engine.text.persons import about_them, second_verb, spelled
from memoir_engine.text.sentences import Sentence, split
from memoir_engine.text.smalltalk import is_smalltalk
from memoir_engine.text.terms import tokens
from memoir_engine.text.tongue import is_english, is_of_self

LEAST = 5.0  # from here on a clause is worth remembering
SAID_BEFORE = 0.3  # what a word counts that stands in the turn before
LOOKED_AT = 300  # characters of a piece that tell whether it can stand alone
MOST_WORDS = 15  # that count; more do not make a clause truer
OWN = 2.0  # it is about the speaker
STANDING = 2.0  # what a form would ask of the speaker: home, work, diet, whom they love
TIMED = 2.0
NUMBERED = 1.0
BELONGING = 1.0  # "my", "our"
TO_THE_OTHER = -3.0  # "you", "your"
PRAISE = -3.0
NOBODY = -2.0
FOREIGN = 3.0  # somebody speaks of themselves in a language of which no more is known
NAMED = 4.0  # it says of somebody by name, or of a thing by its name, what is so


@dataclass(frozen=True, slots=True)
class Statement:
    """content: in the third person, without its subject where that is the speaker. worth: in words, from LEAST on.

    own: it speaks of the speaker. about: the name of somebody else whom it is about, "" where its form does not say.
    """

    start: int
    end: int
    content: str
    type: FactType
    own: bool
    worth: float
    about: str = ""


_NO_NAMES = (
    "I|It|He|She|They|We|You|This|That|These|Those|There|Here|What|Who|Why|How|When|Where|Which|My|Our|Your|Their|His|Her"
    "|Its|No|Yes"
    "|Thanks|Wow|Yeah|Hey|Hi|Oh|So|And|But|Not|Just|Also|Then|Now|If|As|At|On|For|To|By|With|All|Some|Every|Everyone|Everything"
    "|Someone|Something|Nothing|Anything|One|Being|Having|Let|Even|Although|Though|Because|Since|While|Looks|Sounds|Seems|Feels"
    "|The|A|An|In"
).split("|")
_CLAUSE = re.compile(
    r"(?:;\s++|(?<!\s)\s++[-–—]\s++|(?:,|(?<![,\s]))\s++(?:and|but|so|also|plus)\s++(?=(?:i|we|my|our|im|ive)\b)"
    r"|(?:,|(?<![,\s]))\s++and\s++(?=(?-i:[A-Z])\w+\s+(?:is|was|has|lives|works|loves|likes|hates|plays|speaks|moved|got)\b)"
    r"|,\s++(?=(?:i|we)(?:['’]\w+)?\s+\w+))",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:(?<!World War )I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE)
_OWN = re.compile(
    r"^(?:one|two|three|some|both|all|none|neither|most|each) (?:of )?(?:my|our) \w+|^[A-Z]\w+ and I\b|^call me (?-i:[A-Z])"
    r"|(?:^|[,;:—–-]\s*|\b(?:and|but|so|because|since|that|when|while|as|if)\s+)(?:I|we|(?:my|our) \w+)\b",
    re.IGNORECASE,
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
    r"|studying|allergic|vegan|vegetarian|eat|drink|prefer|love|like|enjoy|hate|favou?rite|have|own|drive|play|want|plan"
    r"|decided|stopped|quit"
    r"|started|sold|no longer|anymore|smoke|graduated|retired|fired|hired|promoted|laid off|bought|grew up|raised|gave up"
    r"|given up"
    r"|lead|manage|teach|run|know|adopted|lost|died|passed away|expecting|pregnant|diagnosed|got|call me)\b",
    re.IGNORECASE,
)
_SMALL = "of|the|de|la|le|el|al|von|van|and|on|in|for|to|du|des|der|ibn|y|e|a|dos|da|di|[a-z]+"
_NAME = r"(?:[A-Z][\w’'&.()/-]*|\d+)"
_NAMED = re.compile(  # a name of several words with its verb or clause; a quality "of" a name; a single name that is what it is
    rf"^(?:(?:The|In|What|Which|Where)\b[^,?]*?\s(?:{_NAME})\b"
    rf"|(?:(?:The|An?)\s)?(?!(?:{'|'.join(_NO_NAMES)})\b){_NAME}(?:,?\s(?:{_SMALL}))*\s{_NAME}(?:[\s,]|['’])"
    rf"|(?!(?:{'|'.join(_NO_NAMES)})\b)[A-Z]\w+(?:['’]s(?:\s[a-z]+){{1,2}})?,?\s(?:(?:who|which|whose|that)\s)?(?:is|was"
    rf"|are|were|has|holds|plays|speaks|works"
    rf"|worked|lives|died|spoke)\b)"
)
_TWO_NAMES = re.compile(  # a name at the beginning and another one said of it, not called to: "Krauss is based in Munich"
    rf"^(?!(?:{'|'.join(_NO_NAMES)})\b)[A-Z][\w'’-]+[^!?]*?\b(?:is|was|are|were|has|had|in|of|from|by|for|at|on|after"
    rf"|to)\s(?:the\s)?"
    r"(?:[a-z]+\s)?[A-Z]\w+"
)
_SUBORDINATE = re.compile(
    r"(?:if|when|whenever|while|although|though|because|since|before|after|until|unless|once"
    r"|as)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<=[a-z] )(?!I\b)[A-Z]\b(?!['’.])")  # "vitamin D", "I know C": names of one sign
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”")
_PRONOUN = re.compile(r"(?:they|it|he|she)\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def statements(text: str, before: str = "") -> list[Statement]:
    """text: one turn of a person. before: the turn it answers to, "" for none."""
    known = frozenset(tokens(before))
    found: list[Statement] = []
    shown = claimed(text)
    for start, end in _clauses(shown):
        found += _shared(text, shown, start, end, known) or _told(text, shown, start, end, known)
    return found


def _shared(text: str, shown: str, start: int, end: int, known: frozenset[str]) -> list[Statement]:
    """Two statements where two verbs share who speaks, and each tells something."""
    at = start + opening(shown[start:end])
    at += front(shown[at:end])
    second = second_verb(shown[at:end])
    if second is None or not is_english(shown[start:end]):
        return []
    first = _told(text, shown, start, at + len(shown[at : at + second[0]].rstrip()), known)
    return [*first, *other] if first and (other := _told(text, shown, at + second[1], end, known, who="I ")) else []


def _told(text: str, shown: str, start: int, end: int, known: frozenset[str], who: str = "") -> list[Statement]:
    said, told = who + spelled(shown[start:end]), who + text[start:end]
    if begins_with_pronoun(said):
        said = resolved(said, shown[:start])
        told = resolved(told, shown[:start])
    filled = filled_in(said)
    worth = _worth(f"I am {filled}" if filled else said, known)
    if worth < LEAST:
        return []
    content = filled or about_them(told)
    name = kin_name(said) or opening_name(said)
    return [Statement(start, end, content, fact_type(content), bool(filled) or _is_own(said), worth, name)]


def _is_own(said: str) -> bool:
    return bool(_FIRST.search(said)) or _drops(said) if is_english(said) else is_of_self(said)


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
        for cut in () if _SUBORDINATE.match(sentence.text) else _CLAUSE.finditer(sentence.text):
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
        if sentence.kind != "row" or ":" not in sentence.text or filled_in(sentence.text):
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
    piece = spelled(piece[:LOOKED_AT])
    content = len(tokens(piece)) + bool(_STANDING.search(piece))
    return (content >= 2 and bool(_OWN.search(piece) or _DROPPED.match(piece))) or _is_named(piece)


def _is_named(said: str) -> bool:
    """It begins with a name, and says what whoever bears it is or does."""
    return bool(_NAMED.match(said) or _TWO_NAMES.match(said) or opening_name(said))


def _drops(said: str) -> bool:
    return bool(_DROPPED.match(said))


def _worth(said: str, known: frozenset[str]) -> float:
    if not said.strip() or is_smalltalk(said):
        return 0.0
    words = tokens(said)
    words += _LETTER.findall(said)
    new = len(frozenset(words) - known)
    told = min(MOST_WORDS, (1 - SAID_BEFORE) * new + SAID_BEFORE * len(words))
    if not is_english(said):
        return told + (FOREIGN if is_of_self(said) else 0 if _is_named(said) else NOBODY)
    if not says_something(said):
        return 0.0
    mine, yours = bool(_FIRST.search(said)), bool(_YOU.search(_QUOTED.sub(" ", said)))
    own = bool(_OWN.search(said)) or _drops(said) or bool(front(said))
    return (
        told
        + OWN * own
        + STANDING * (own and not yours and bool(_STANDING.search(said)))
        + TIMED * bool(_TIME.search(said))
        + NUMBERED * bool(_DIGIT.search(said))
        + BELONGING * bool(_MY.search(said))
        + TO_THE_OTHER * yours
        + PRAISE * bool(_PRAISE.match(said))
        + (NAMED if _is_named(said) else NOBODY) * (not mine and not yours)
    )
