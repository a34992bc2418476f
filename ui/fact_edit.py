"""Putting facts right by hand: which edit of which facts, its fields, and where it leads.

Invariant: the open edit is in the address as `edit`; the engine checks roles and values, this hides what cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import streamlit as st

from memoir_engine import Action, FactView, MemoirError, Memory
from ui import fact_effect, fact_fields, fact_labels, figures, state
from ui import wording_facts as texts
from ui.components import focus
from ui.fact_effect import FactEdit

KEYS = {"correct": "E", "retire": "D", "expire": "X", "forget": "F"}
DAYS = {"week": 7, "month": 30, "year": 365}
ACTIONS = ("correct_fact", "add_fact", "retire_fact", "expire_fact")  # verbs whose actions can be undone
FINAL = ("merged", "corrected", "person")  # causes of outdated facts that are not set right themselves


def add_button(memory: Memory) -> None:
    if "auditor" in memory.actor.roles:
        st.button(
            texts.ADD, icon=":material/add:", type="primary", key="facts-add", shortcut="N", help=texts.ADD_HELP,
            on_click=_open, args=("add",),
        )  # fmt: skip


def addition(memory: Memory, user: str | None) -> None:
    """Draw the form of a new fact, if it is open. user: whose fact it is."""
    if state.param("edit") != "add" or "auditor" not in memory.actor.roles:
        return
    with st.container(border=True, key="fact-add", gap="small"):
        st.markdown(f"**{texts.ADD}**")
        st.caption(texts.ADD_ABOUT)
        with st.container(key="fact-edit-fields", gap="small"):
            content = fact_fields.words(None)
            user = fact_fields.owner(memory, user)
            given = fact_fields.stated(fact_fields.details(None, user))
        focus.first("fact-edit-fields", "add")
        if not content:
            st.caption(texts.EMPTY_YET)
            fact_effect.cancel()
            return
        fact_effect.decide(memory, FactEdit("add", (content, user), named=given), then=partial(_added, user))


def _added(user: str | None, done: Action) -> None:
    _landed(done)
    state.update(user=user)
    if done.known:
        st.toast(texts.ADDED_KNOWN, icon=":material/done_all:")
    elif done.proposals:
        st.toast(texts.ADDED_ASKS.format(count=figures.count(len(done.proposals))), icon=":material/rule:")


def row(memory: Memory, facts: Sequence[FactView]) -> None:
    """Draw the edits that fit these facts, each with its key, and the form of the open one."""
    fit = fitting(memory, facts)
    opened = state.param("edit")
    with st.grid(2, gap="xsmall", min_column_width=120) if len(facts) == 1 else st.container(horizontal=True, gap="xsmall"):
        for verb in fit:
            st.button(
                texts.VERBS[verb], icon=fact_effect.ICONS[verb], key=f"fact-{verb}", help=texts.VERBS_HELP[verb],
                shortcut=KEYS[verb], width="stretch", on_click=_open,
                args=(verb if opened != verb else None,),
            )  # fmt: skip
    if opened in fit:
        _form(memory, facts, opened)


def fitting(memory: Memory, facts: Sequence[FactView]) -> list[str]:
    """Return the edits that these facts and the person's roles allow."""
    is_active = all(fact.status == "active" for fact in facts)
    fits = {
        "correct": len(facts) == 1 and facts[0].cause not in FINAL,
        "retire": is_active,
        "expire": is_active,
        "forget": "admin" in memory.actor.roles,
    }
    return [verb for verb, may in fits.items() if may and "auditor" in memory.actor.roles]


def _open(verb: str | None) -> None:
    fact_effect.leave()
    state.update(edit=verb, done=None, undo=None)


def _form(memory: Memory, facts: Sequence[FactView], verb: str) -> None:
    with st.container(key="fact-edit-form", gap="small"):
        st.markdown(f"**{texts.VERBS[verb]}**", help=texts.VERBS_HELP[verb])
        with st.container(key="fact-edit-fields", gap="small"):
            edit = FORMS[verb](facts)
        focus.first("fact-edit-fields" if verb != "forget" else "fact-edit-form", f"{verb}-{facts[0].id}")
        if edit is None:
            st.caption(texts.NOTHING_YET)
            fact_effect.cancel()
        else:
            fact_effect.decide(memory, edit, then=_landed)


def outcome(memory: Memory) -> str | None:
    """Return what the action just done was about, in the words of the fact it left."""
    action_id, fact_id = state.param("done"), state.param("fact")
    if action_id is None or fact_id is None:
        return None
    with suppress(MemoirError):
        if memory.audit.action(action_id).verb in ACTIONS:
            return f"“{figures.one_line(memory.facts.get(fact_id).content, 120)}”"
    return None


def _landed(done: Action) -> None:
    """Go to the fact that is new or was changed, with the undo at hand."""
    if done.verb in ACTIONS:
        state.update(fact=done.fact_id if len(done.fact_ids) == 1 else None, done=done.action_id)
    else:
        state.update(fact=None, done=None)
        st.toast(texts.FORGOTTEN)
    clear_selection()


def clear_selection() -> None:
    st.session_state.update({"facts-selected": "", "facts-cleared": st.session_state.get("facts-cleared", 0) + 1})


# --- the forms --------------------------------------------------------------------------------------------------------------


def _correct(facts: Sequence[FactView]) -> FactEdit | None:
    fact = facts[0]
    content = fact_fields.words(fact)
    named = fact_fields.changed(fact, content, fact_fields.details(fact, fact.user_id))
    return FactEdit("correct", (fact.id,), (fact.id,), named) if named else None


def _retire(facts: Sequence[FactView]) -> FactEdit:
    ended = st.text_input(
        texts.ENDED_ON, placeholder=texts.ENDED_HINT, help=texts.DATE_HELP, max_chars=fact_fields.DATE_CHARS,
        key=fact_effect.key("ended"),
    ).strip()  # fmt: skip
    ids, forms = _ids(facts), texts.ENDS_THEN if ended else texts.ENDS_NOW
    says = fact_effect.counted(forms, len(facts), when=ended)
    return FactEdit("retire", (ids,), ids, {"ended_at": ended} if ended else {}, says)


def _expire(facts: Sequence[FactView]) -> FactEdit | None:
    ids, choices = _ids(facts), [one for one in texts.EXPIRES_IN if one != "never" or any(fact.expires_at for fact in facts)]
    chosen = st.segmented_control(
        texts.EXPIRES_AT, choices, format_func=texts.EXPIRES_IN.__getitem__, default=None, help=texts.EXPIRES_HELP,
        key=fact_effect.key("expires"),
    )  # fmt: skip
    if chosen is None:
        return None
    if chosen == "never":
        return FactEdit("expire", (ids, None), ids, says=fact_effect.counted(texts.WONT_EXPIRE, len(facts)))
    at = _moment(DAYS.get(chosen))
    says = fact_effect.counted(texts.WILL_EXPIRE, len(facts), when=fact_labels.minute(at))
    return FactEdit("expire", (ids, at), ids, says=says)


def _moment(days: int | None) -> datetime:
    """Return the chosen time; in so many days it is midnight at their end."""
    today = datetime.now(figures.zone()).replace(hour=0, minute=0, second=0, microsecond=0)
    if days is not None:
        return today + timedelta(days=days)
    tomorrow = (today + timedelta(days=1)).replace(tzinfo=None)
    typed = st.datetime_input(
        texts.EXPIRES_AT, value=tomorrow, label_visibility="collapsed", format="YYYY-MM-DD", key=fact_effect.key("moment")
    )
    return (typed or tomorrow).replace(tzinfo=figures.zone())


def _forget(facts: Sequence[FactView]) -> FactEdit:
    return FactEdit("forget", (_ids(facts),), _ids(facts))


def _ids(facts: Sequence[FactView]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)


FORMS: dict[str, Callable[[Sequence[FactView]], FactEdit | None]] = {
    "correct": _correct,
    "retire": _retire,
    "expire": _expire,
    "forget": _forget,
}
