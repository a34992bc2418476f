"""A statement somebody made of themselves, said about them: "I live in Lyon with my cat" is "Lives in Lyon with their cat".

Invariant: only words that stand for the speaker, and the verb that follows a speaker at the beginning, change; names, numbers and
quotations of others stay. A text without such words comes back as it is. Pure.
"They" stands for the speaker inside a sentence: its verbs keep the form that follows "I". Source: TIMEM "Memory Structure".
"""

from __future__ import annotations

import re

from memoir_engine.text.tongue import is_english
from memoir_engine.text.verbs import third

_FILLER = re.compile(
    r"^(?:(?:yes|yeah|yep|no(?! (?:longer|more)\b)|nope|nah|oh|ah|well|so|and|but|also|plus|hey|hi|hello|wow|okay|ok|sure"
    r"|actually|anyway|btw|by the way|honestly|basically|you know|i mean|update|big news|good news|guess what|then|because"
    r"|definitely|absolutely|unfortunately|sadly|luckily|thanks|thank you|for me|as for me|to be honest|in fact"
    r"|of course)\b(?:\s*[,:;.!–—-]+\s*|\s+))+",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(r"[^.:;!?\n]{1,60}:\s+(?=(?:I|[Ww]e|[Mm]y|[Oo]ur)\b)")  # "News from the clinic: I …"
_ADVERBS = (
    "also|always|never|really|just|still|usually|often|sometimes|already|now|recently|finally|actually|only|mostly|currently"
    "|generally|rarely|normally|absolutely|totally|definitely|kinda|even|first|simply|truly|especially|probably|once|then"
    "|both|all|no longer|seldom|ever|quite|almost|soon|today|somehow|maybe|perhaps|very much"
    r"|(?!(?:apply|rely|reply|fly|supply|multiply|comply|imply|rally|bully|ally)\b)[a-z]{2,}ly"  # deeply, formerly; no verbs
)
_HEAD = re.compile(
    rf"^(?P<who>i|we)(?P<short>['’](?:m|ve|d|ll|re))?\s+(?P<adverbs>(?:(?:{_ADVERBS})\s+)*)(?P<verb>[a-z]+(?:['’]t)?)",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\b(?:also|just)\s+", re.IGNORECASE)
_SHORT = {"m": "is", "re": "is", "ll": "will"}
_NEGATED = {"don't": "does not", "haven't": "has not", "aren't": "is not", "weren't": "was not"}
_NEGATED |= {"can't": "cannot", "won't": "will not", "shan't": "shall not"}
_GONNA = re.compile(r"\b(?:gonna|gon na)\b", re.IGNORECASE)
_INSIDE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"\b{word}(?![\w'’])"), new)
    for word, new in (
        (r"I['’]m", "they are"),
        (r"I['’]ve", "they have"),
        (r"I['’]d", "they would"),
        (r"I['’]ll", "they will"),
        ("I am", "they are"),
        ("I was", "they were"),
        ("am I", "are they"),
        ("was I", "were they"),
        (r"(?<!World War )I(?! of [A-Z])", "they"),
        (r"(?<![\w.(])i['’]m", "they are"),
        (r"(?<![\w.(])i['’]ve", "they have"),
        (r"(?<![\w.(])i am", "they are"),
        (r"(?<![\w.(])i was", "they were"),
        (r"(?<![\w.(])i(?=\s+[a-z])", "they"),
        ("^(?i:me)(?= and )", "They"),
        ("(?i:myself)", "themselves"),
        ("(?i:mine)", "theirs"),
        ("(?i:me)", "them"),
        ("(?i:my)", "their"),
        ("(?i:we['’]re)", "they are"),
        ("(?i:we['’]ve)", "they have"),
        ("(?i:we['’]ll)", "they will"),
        ("(?i:we['’]d)", "they would"),
        ("(?i:we)", "they"),
        ("(?i:ourselves)", "themselves"),
        ("(?i:ours)", "theirs"),
        ("(?i:our)", "their"),
        ("(?i:us)", "them"),
    )
)
_PARTICIPLE = re.compile(r"(?:ed|en|own|one|ade|ent|old|aught|ought|ost|een|on)$", re.IGNORECASE)


def opening(text: str) -> int:
    """How many characters of it are said before it begins to tell: "Oh well, ", "By the way: "."""
    found = _FILLER.match(text)
    start = found.end() if found and found.end() < len(text) else 0
    announced = _ANNOUNCED.match(text, start)
    return announced.end() if announced else start


def about_them(text: str) -> str:
    """The text as it is said about who said it, without what it opens with; as it stands where it is not English."""
    said = text[opening(text) :].strip()
    if not is_english(said):
        return said.rstrip(".!;,:–— -")
    head = _HEAD.match(said)
    told = f"{_begun(head)}{said[head.end() :]}" if head else _inside(said)
    told = _inside(told) if head else re.sub(r"^their\s+", "", told, flags=re.IGNORECASE)
    told = _GONNA.sub("going to", told).strip().rstrip(".!;,:–— -")
    return told[:1].upper() + told[1:]


def _begun(head: re.Match[str]) -> str:
    """The verb that followed the speaker, as it follows somebody spoken of."""
    adverbs, verb = _ALSO.sub("", head["adverbs"]), head["verb"]
    short = (head["short"] or "")[1:].lower()
    if not short:
        low = verb.lower().replace("’", "'")
        return adverbs + (_NEGATED.get(low) or (f"{low[:-3]} not" if low.endswith("n't") else third(verb)))
    if short == "ve":
        return f"has {adverbs}{verb}"
    if short == "d":
        return f"{'had' if _PARTICIPLE.search(verb) or verb.lower() == 'better' else 'would'} {adverbs}{verb}"
    return f"{_SHORT[short]} {adverbs}{verb}"


def _inside(text: str) -> str:
    for pattern, new in _INSIDE:
        text = pattern.sub(new, text)
    return text
