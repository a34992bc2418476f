"""Whether a clause says something that can be understood without what was said around it.

Invariant: words of trying, asking and waiting, of time, and pronouns whose person stands elsewhere are no content. Pure. English.
"""

from __future__ import annotations

import re

from memoir_engine.text.terms import STOP, Stems, words

_EMPTY = Stems(
    STOP
    | frozenset(
        """try tries trying tried wait waits waiting waited ask asks asking asked tell tells telling told call calls
        calling called ring rings rang phone text reply replied answer answered check checked checking thing things
        lot lots bit stuff idea point question sure fine glad sorry right wrong true fun nice cool amazing awesome
        lovely hope hoping guess wonder wondering agree understand remind reminded hour hours minute minutes day days
        week weeks month months year years today tomorrow yesterday tonight morning evening night weekend time times
        moment ago later soon monday tuesday wednesday thursday friday saturday sunday really gonna wanna gotta""".split()
    )
)
_ELSEWHERE = re.compile(  # "this year" is no pronoun
    r"\b(?:him|her|it|them|he|she|they|(?:that|this|these|those)(?=\s*(?:$|[.,;!?]|(?:is|was|are|were|will|would|so|and|but|too|next"
    r"|now|already|yesterday|today|tomorrow|for|in|on|at|to|with|before|again)\b)))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d(?!\d*\s*(?:hours?|minutes?|days?|weeks?|times?)\b)[\d.,:]*", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z](?:\w*|\b)")
_FEW = 2  # where a person or a thing stands elsewhere


def says_something(said: str) -> bool:
    left = {stem for word in words(said) for stem in _EMPTY[word]} | {hit.lower() for hit in _NUMBER.findall(said)}
    left |= {name.lower() for name in _NAME.findall(said) if len(name) < 2}
    return len(left) >= (_FEW if _ELSEWHERE.search(said) else 1)
