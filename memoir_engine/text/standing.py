"""Of when a statement speaks: of what is so now, of what was so once, or of what is only wished for.

Invariant: what changed somebody ("moved to", "became", "was promoted") is of now: it says how they are since. Pure.
"""

from __future__ import annotations

import re
from typing import Literal

from memoir_engine.text.verbs import looks_ahead

Time = Literal["now", "once", "ahead"]

_ONCE = re.compile(
    r"\b(?:used to|formerly|previously|in the past|back then|in those days|at the time|once upon a time"
    r"|(?:when|while) (?:i|they|we|he|she) (?:was|were)|as an? (?:child|kid|teen(?:ager)?|boy|girl|student)"
    r"|(?:in|during) (?:my|their|his|her) (?:childhood|youth|twenties|teens|student days))\b",
    re.IGNORECASE,
)
_MADE = (
    r"(?:\w+ly )?(?!(?:married|engaged|employed|based|located|divorced|retired|interested|tired)\b)(?:\w+(?:ed|orn|iven)"
    r"|made|let go|laid off)"
)
_STATE = re.compile(  # the first verb is of the past of a state; "was born", "was promoted" made them what they are
    rf"^(?:\w+\s){{0,3}}?(?:(?:was|were)(?! {_MADE})"
    r"|lived|resided|worked|had|owned|drove|weighed|dated|studied|spoke|belonged|did|played|smoked|liked|loved|hated|wore|could)\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:one day|some ?day|would (?:like|love|rather|prefer)|wish(?:es)?|dreams? (?:of|about)|hopes?|hoping"
    r"|thinking (?:of|about)|considers?|considering|might|(?-i:may)|intends?|wants?|plans?|planning)\b",
    re.IGNORECASE,
)


def time_of(statement: str) -> Time:
    if looks_ahead(statement) or _WISHED.search(statement):
        return "ahead"
    return "once" if _ONCE.search(statement) or _STATE.search(statement) else "now"
