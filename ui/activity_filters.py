"""Filters of the Activity page, read from the address and changed by its fields.

Invariant: the address is the only place that keeps them; a malformed value counts as no filter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import streamlit as st

from memoir_engine import Memory
from ui import event_words, figures, state, viewer
from ui.wording_activity import texts

NAMES = ("who", "what", "kind", "src", "cat", "run", "from", "to", "text", "all")
MOST = 500  # options of one field
ENDS = ("close", "converse")  # what a run leaves when it ends, and each turn of a conversation


def from_address() -> dict[str, Any]:
    """Return the filters as keyword arguments of `audit.actions`."""
    until = day("to")
    found: dict[str, Any] = {
        "actor": state.param("who"),
        "verb": state.param("what"),
        "kind": state.param("kind"),
        "source": state.param_id("src"),
        "category": state.param_id("cat"),
        "run": state.param("run"),
        "since": _midnight(day("from")),
        "until": _midnight(until + timedelta(days=1)) if until else None,
        "text": state.param("text"),
    }
    given = {name: value for name, value in found.items() if value is not None}
    hide = state.param("all") is None and not {"verb", "kind", "run"} & given.keys()
    return given | ({"but": ENDS} if hide else {})


def is_filtered() -> bool:
    return any(state.param(name) for name in NAMES)


def day(name: str) -> date | None:
    try:
        found = date.fromisoformat(state.param(name) or "")
        return found if date(1970, 1, 1) < found < date(9000, 1, 1) else None
    except ValueError:
        return None


def fields(memory: Memory) -> None:
    with st.container(border=True, key="act-filters"):
        with st.grid(4, gap="small", min_column_width=150):
            _choice("who", texts.WHO, memory.audit.actors(), viewer.plain_name)
            _choice("what", texts.WHAT, memory.audit.verbs(), event_words.verb)
            sources = {source.id: source.name for source in memory.sources.list(limit=MOST)}
            _choice("src", texts.SOURCE, [*sources], lambda number: figures.shortened(sources.get(int(number), f"#{number}"), 40))
            paths = {one.id: figures.path(one.path) for one in memory.tree.all()[:MOST]}
            _choice("cat", texts.CATEGORY, [*paths], lambda number: paths.get(int(number), f"#{number}"))
            _day("from", texts.SINCE)
            _day("to", texts.UNTIL)
            _text("text", texts.REASON)
            _text("run", texts.RUN)
        with st.container(horizontal=True, vertical_alignment="center"):
            shown = st.toggle(texts.RUNS_TOO, value=state.param("all") is not None, help=texts.RUNS_TOO_HELP, key=_key("all"))
            if shown != (state.param("all") is not None):
                _changed("all", "1" if shown else None)
                st.rerun()
            st.space("stretch")
            if is_filtered() and st.button(texts.CLEAR, icon=":material/filter_alt_off:", key="act-clear", type="tertiary"):
                state.update(**dict.fromkeys((*NAMES, "before")))
                st.rerun()


def _choice(name: str, label: str, options: Sequence[Any], shown: Callable[[Any], str]) -> None:
    current = state.param(name)
    known = [str(option) for option in options]
    known += [current] if current and current not in known and (name not in ("src", "cat") or current.isdigit()) else []
    st.selectbox(
        label,
        known,
        index=known.index(current) if current in known else None,
        format_func=shown,
        placeholder=texts.ANY,
        key=_key(name),
        on_change=lambda: _changed(name, st.session_state.get(_key_was(name))),
    )
    st.session_state[f"act-key-{name}"] = _key(name)


def _text(name: str, label: str) -> None:
    st.text_input(
        label,
        value=state.param(name) or "",
        placeholder=texts.ANY,
        max_chars=200,
        key=_key(name),
        on_change=lambda: _changed(name, str(st.session_state.get(_key_was(name)) or "").strip() or None),
    )
    st.session_state[f"act-key-{name}"] = _key(name)


def _day(name: str, label: str) -> None:
    st.date_input(
        label,
        value=day(name),
        format="YYYY-MM-DD",
        min_value=date(1970, 1, 2),
        key=_key(name),
        on_change=lambda: _changed(name, _iso(st.session_state.get(_key_was(name)))),
    )
    st.session_state[f"act-key-{name}"] = _key(name)


def _iso(value: object) -> str | None:
    return value.isoformat() if isinstance(value, date) else None


def _key(name: str) -> str:
    """Build a widget key that contains the address's value, so that the field is redrawn when the address changes."""
    return f"act-{name}-{state.param(name) or ''}"


def _key_was(name: str) -> str:
    return str(st.session_state.get(f"act-key-{name}", _key(name)))


def _changed(name: str, value: str | None) -> None:
    state.update(**{name: value, "before": None})


def _midnight(day: date | None) -> datetime | None:
    """Return midnight of that day in the viewer's time zone."""
    return None if day is None else datetime.combine(day, time(), figures.zone()).astimezone(UTC)
