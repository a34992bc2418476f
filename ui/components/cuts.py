"""Cuts of a conversation by each strategy: one strip per strategy over the whole, and the messages with the cuts beside them.

Invariant: a strategy is identified by number and position, never by colour alone; messages are drawn as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import streamlit as st

from memoir_engine import Cut, CutConversation
from ui import figures
from ui.components.scripts import read, script
from ui.wording_cuts import texts as wording_cuts

SHOWN = 600  # messages of the talk itself
SNIPPET = 600  # characters of one
PERSON = ("user", "human")
_component = st.components.v2.component(
    "memoir_cuts",
    html='<div class="cuts"><div class="map" role="group"></div><div class="talk" role="region" tabindex="0"></div></div>\n',
    css=read("cuts.css"),
    js=script("cuts.js"),
)


def show(messages: Sequence[Any], made: Mapping[str, CutConversation], *, key: str) -> None:
    """messages: as `read_transcript` or a session returns them. made: the cuts by strategy."""
    tokens = next(iter(made.values())).message_tokens
    sums = [0, *accumulate(tokens)]
    data = {
        "lanes": [_lane(name, one, sums) for name, one in made.items()],
        "messages": [_message(message, tokens[at]) for at, message in enumerate(messages[:SHOWN])],
        "words": wording_cuts.WORDS,
    }
    _component(key=key, data=data)


def _lane(name: str, made: CutConversation, sums: Sequence[int]) -> dict[str, Any]:
    label, about = wording_cuts.STRATEGIES.get(name, (name, wording_cuts.PLUGGED))
    whole = max(sums[-1], 1)
    return {
        "label": label,
        "about": about,
        "fell": made.fell_back,
        "cuts": [_cut(cut, sums, whole) for cut in made.cuts],
    }


def _cut(cut: Cut, sums: Sequence[int], whole: int) -> dict[str, Any]:
    begin, end = float(sums[cut.first]), float(sums[cut.last + 1])
    if cut.split is not None:
        part, parts = cut.split
        begin, end = begin + (end - begin) * (part - 1) / parts, begin + (end - begin) * part / parts
    return {
        "n": cut.n,
        "of": cut.of,
        "first": cut.first,
        "last": cut.last,
        "left": begin / whole,
        "width": (end - begin) / whole,
        "shared": cut.overlap_messages,
        "overlap": cut.overlap_tokens,
        "tokens": cut.tokens,
        "reason": cut.reason,
        "oversize": cut.oversize,
        "split": list(cut.split) if cut.split else None,
    }


def _message(message: Any, tokens: int) -> dict[str, Any]:
    at = message.at if hasattr(message, "at") else message.created_at
    text = message.text if len(message.text) <= SNIPPET else f"{message.text[:SNIPPET]} …"
    return {
        "who": message.name or wording_cuts.ROLES.get(message.role, message.role),
        "person": message.role in PERSON,
        "at": figures.stamp(at) if at else "",
        "text": text,
        "tokens": tokens,
    }
