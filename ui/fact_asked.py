"""What is asked of the facts: whose, in which state, of which type, as of when, with which words; all of it in the address.

Invariant: a value of the address that cannot be is no value; the moment is one at which something was learned or ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import streamlit as st

from memoir_engine import FactView, Memory
from ui import figures, state
from ui import wording_facts as said

MOST = 1000  # facts of one user on the page
NEAREST = 20  # facts that a search shows
MOMENTS = 200


@dataclass(frozen=True)
class Asked:
    """user: None is the workspace. moment: None is now."""

    user: str | None
    statuses: tuple[str, ...]
    type: str | None
    words: str
    moment: datetime | None


def user(memory: Memory) -> str | None:
    """One of those whose facts may be seen; the only one is not asked for."""
    known = [one for one, _ in memory.facts.users()]
    counts = dict(memory.facts.users())
    wanted = state.asked("user")
    index = known.index(wanted) if wanted in known else 0

    def shown(one: str | None) -> str:
        return f"{one or said.WORKSPACE} · {figures.count(counts[one])}"

    chosen = st.selectbox(said.USER, known, index=index, format_func=shown, key=f"facts-user-{wanted}")
    state.show(user=chosen)
    return chosen


def states() -> tuple[str, ...]:
    wanted = tuple(one for one in (state.asked("state") or "").split(",") if one in said.STATUSES) or tuple(said.STATUSES)
    chosen = st.pills(
        said.STATUS,
        list(said.STATUSES),
        default=list(wanted),
        selection_mode="multi",
        format_func=said.STATUSES.get,
        key="facts-state",
    )
    kept = tuple(one for one in said.STATUSES if one in (chosen or ()))
    state.show(state=",".join(kept) if kept and len(kept) < len(said.STATUSES) else None)
    return kept or tuple(said.STATUSES)


def kind(counts: dict[str, int]) -> str | None:
    wanted = state.asked("type")
    options = [None, *(one for one in said.TYPES if counts.get(one))]

    def shown(one: str | None) -> str:
        return said.ALL_TYPES if one is None else f"{said.TYPES[one]} · {figures.count(counts.get(one, 0))}"

    index = options.index(wanted) if wanted in options else 0
    chosen = st.selectbox(said.TYPE, options, index=index, format_func=shown, key="facts-type")
    state.show(type=chosen)
    return chosen


def words() -> str:
    typed = st.text_input(
        said.FIND,
        value=state.asked("q") or "",
        placeholder=said.FIND_PLACEHOLDER,
        help=said.FIND_HELP,
        key="facts-words",
        max_chars=500,
    )
    state.show(q=typed.strip() or None)
    return typed.strip()


def moment(memory: Memory, whose: str | None) -> datetime | None:
    """When something was learned or became outdated, and now; nothing to slide where there was but one such moment."""
    known = memory.facts.list(whose, limit=MOST)
    at = sorted({when.replace(microsecond=0) for fact in known for when in (fact.recorded_at, fact.retired_at) if when})[
        -MOMENTS:
    ]
    labels = [figures.stamp(when) for when in at[:-1]] + [said.NOW]
    if len(labels) < 2:
        return None
    wanted = state.asked("at")
    value = wanted if wanted in labels else said.NOW
    chosen = st.select_slider(said.AS_OF, labels, value=value, help=said.AS_OF_HELP, key="facts-at")
    state.show(at=chosen if chosen != said.NOW else None)
    return None if chosen == said.NOW else at[labels.index(chosen)] + timedelta(seconds=1)


def found(memory: Memory, asked: Asked) -> tuple[FactView, ...]:
    """Those that the filters let through; a search has them in its own order."""
    if asked.words:
        hits = memory.recall(asked.words, user_id=asked.user, limit=NEAREST, as_of=asked.moment)
        facts = tuple(hit.fact for hit in hits if hit.score > 0)
    else:
        facts = memory.facts.list(asked.user, as_of=asked.moment, limit=MOST)
    return tuple(fact for fact in facts if fact.status in asked.statuses and asked.type in (None, fact.type))
