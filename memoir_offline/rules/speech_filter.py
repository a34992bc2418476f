"""Keep what a speaker claims of a turn: no quotations of others, no suppositions, no text handed over for work.

Invariant: the answer is as long as the text, and differs from it only by blanks where nothing is claimed. Pure. English, and the
quotation marks of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoir_engine.text.clauses import is_past_form
from memoir_engine.text.sentences import split

_QUOTED = re.compile(
    r"\"[^\"\n]{3,}\"|“[^“”\n]{3,}”|„[^„“”\n]{3,}[“”]|«[^«»\n]{3,}»|「[^「」\n]+」|『[^『』\n]+』|```.*?(?:```|\Z)", re.DOTALL
)
_SAY = (
    r"(?:said|says?|told|tells?|asked|asks?|wrote|writes?|repl(?:ied|ies)|answer(?:ed|s)|shouted|texted|whispered|claim(?:ed|s)"
    r"|th(?:inks|ought)|was like|quotes?|motto|lyrics?|sagt\w*|schrieb|dijo|dice|dit|disse)"
)
_BEFORE = re.compile(rf"(?:\b{_SAY}\b[^.!?\n\"“”]{{0,40}}|[:,]\s*)$", re.IGNORECASE)
_MYSELF = re.compile(
    r"\b(?:i|we)(?:['’]ve| have)? (?:just |also |always )?(?:say|said|tell|told|wrote|think)\b[^.!?\n]*$", re.IGNORECASE
)
_BEHIND = re.compile(rf"\s*,?\s*(?:{_SAY}\b|(?:he|she|they|my \w+|[A-Z]\w+) {_SAY}\b|と|って)", re.IGNORECASE)
_TAGGED = re.compile(
    r",\s+(?:said|says|asked|replied|cried|whispered|shouted|thought) (?:the|an?|my|his|her|our|[A-Z])[\w ]*[.!?]*$"
)
_HANDED = re.compile(  # work on a text that follows
    r"(?:^|[.!?\n]\s{0,4}|\b(?:please|you|me|to)\s+)(?:summari[sz]e|translate|rewrite|rephrase|paraphrase|proofread|correct"
    r"|edit|improve"
    r"|shorten|review|analy[sz]e|explain|classify|fix|debug|check|answer|continue)\b[^:\n]{0,100}:(?=\s)",
    re.IGNORECASE,
)
_PRETENDED = re.compile(  # from here on, to the end of the paragraph
    r"(?:^|(?<=[.!?\n])\s{0,4})(?:ok(?:ay)?,? |so,? |now,? )?(?:please )?(?:act as|pretend|imagine (?:that|you|i|we|a"
    r"|being)\b|suppose|assume"
    r"|let['’]?s (?:say|pretend|imagine|assume|suppose|play|role-?play)|let us (?:say|pretend|imagine|assume|suppose)"
    r"|say (?=(?:I|my|we)\b)|role-?play|you are (?:now )?(?:an?|my)\b|once upon a time"
    r"|my (?:main )?character\b)",
    re.IGNORECASE,
)
_TOLD = re.compile(  # of a story, of this sentence alone
    r"\bin (?:the|this|that|my|our|a) (?:\w+ )?(?:game|dream|story|tale|novel|film|movie|play|script|fantasy|role-?play"
    r"|scenario),?"
    r" (?:i['’]?m|i|we|my)\b|\bmy (?:main )?character\b|\bi (?:dreamt|dreamed|had a dream)\b|\bonce upon a time\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"(?<!as )(?<!even )\bif (?:only )?(?:i|we|he|she|they|it|you|my \w+|the \w+)(?: (?:\w+ly|ever|just|only))? (?P<verb>[a-z]+)",
    re.I,
)
_WOULD = re.compile(r"\b(?:would|could|might)(?:n['’]t)?\b|['’]d\b", re.IGNORECASE)
_JOKED = re.compile(r"\b(?:only|just) (?:joking|kidding)\b|^jk\b|,? jk[.!]*$|^(?:joking|kidding)\b", re.IGNORECASE)


def claimed(text: str) -> str:
    shown = list(text)
    for start, end in unclaimed(text):
        shown[start:end] = " " * (end - start)
    return "".join(shown)


def unclaimed(text: str) -> Iterator[tuple[int, int]]:
    handed = _HANDED.search(text)
    if handed:
        yield handed.end(), len(text)
    for quote in _QUOTED.finditer(text):
        if is_of_another(text, quote):
            yield quote.start() + 1, quote.end() - 1
    for line in re.finditer(r"^[ \t]*>[^\n]*$", text, re.MULTILINE):  # an answer repeats what it answers to
        yield line.span()
    for pretence in _PRETENDED.finditer(text):
        close = text.find("\n\n", pretence.end())
        yield pretence.start(), len(text) if close < 0 else close
    sentences = split(text)
    for at, sentence in enumerate(sentences):
        if _is_unreal(sentence.text):
            yield sentence.start, sentence.end
        if _JOKED.search(sentence.text):  # a short one takes back what stands before it, not what it says itself
            yield (sentences[at - 1] if at and len(sentence.text.split()) <= 4 else sentence).start, sentence.end


def is_of_another(text: str, quoted: re.Match[str]) -> bool:
    """Report somebody else's speech; a title, a word in doubt and one's own words are not."""
    if quoted[0].startswith("```"):
        return True
    line = text[max(text.rfind("\n", 0, quoted.start()), quoted.start() - 100) + 1 : quoted.start()]
    if _MYSELF.search(line):
        return False
    if _BEHIND.match(text, quoted.end()):
        return True
    return bool(_BEFORE.search(line)) and (len(quoted[0].split()) > 1 or quoted[0][0] in "「『")


def _is_unreal(sentence: str) -> bool:
    condition = _IF.search(sentence)
    past = condition is not None and (condition["verb"].lower() in ("were", "could") or is_past_form(condition["verb"].lower()))
    return bool(_TOLD.search(sentence) or _TAGGED.search(sentence) or (past and _WOULD.search(sentence)))
