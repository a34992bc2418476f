"""Bring a conversation along: whose facts it gives, the text or file, and the work itself as it goes on.

Invariant: the page only watches a job, so leaving it stops nothing; what is shown of a run is what its events say.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from memoir_engine import Memory, RunView, read_transcript, sample_conversations
from ui import figures, problems, state, who
from ui import wording_facts as said
from ui.escape import md_escape

ACTIVE = ("queued", "running")
EVERY_S = 0.7
PASTE_CHARS = 2_000_000


def button(memory: Memory) -> None:
    if st.button(said.REMEMBER, icon=":material/forum:", key="facts-remember"):
        _form(memory)


@st.dialog(said.REMEMBER, width="medium", icon=":material/forum:")
def _form(memory: Memory) -> None:
    st.caption(said.REMEMBER_ABOUT)
    if not who.may(memory, key="facts-remember", role="viewer"):
        return
    fixed = None if "admin" in memory.actor.roles else memory.actor.name
    user = st.text_input(
        said.REMEMBER_USER, value=fixed or state.asked("user") or "", placeholder=said.REMEMBER_USER_PLACEHOLDER,
        disabled=fixed is not None, key="remember-user", max_chars=200,
    )  # fmt: skip
    pasted = st.text_area(said.PASTE, placeholder=said.PASTE_PLACEHOLDER, height=200, key="remember-text", max_chars=PASTE_CHARS)
    file = st.file_uploader(said.DROP, type=["txt", "md", "json"], key="remember-file", max_upload_size=memory.config.max_file_mb)
    if st.button(said.GO, type="primary", icon=":material/arrow_forward:", key="remember-go"):
        text = pasted if pasted.strip() else file.getvalue().decode("utf-8-sig", "replace") if file else ""
        if not text.strip():
            st.warning(said.NO_TEXT)
        elif not user.strip():
            st.warning(said.NO_USER)
        else:
            with problems.noted():
                messages = [_record(one) for one in read_transcript(text, zone=memory.config.zone)]
                run_id = memory.start("remember", messages=messages, user_id=user.strip())
                state.show(job=run_id, user=user.strip())
                st.rerun()


def _record(spoken: Any) -> dict[str, str]:
    """An utterance as a message: what of it is known."""
    named = {"name": spoken.name} if spoken.name else {}
    timed = {"at": spoken.at.isoformat()} if spoken.at else {}
    return {"role": spoken.role, "content": spoken.text, **named, **timed}


def samples(memory: Memory) -> None:
    """The sample conversations, each for the person it is of."""
    if st.button(said.SAMPLES, icon=":material/auto_awesome:", type="primary", key="facts-samples"):
        with problems.noted(), st.spinner(said.RUNNING):
            for talk in sample_conversations():
                memory.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
            st.rerun()


def progress(memory: Memory) -> None:
    """The job that the address names, until somebody closes it."""
    run_id = state.asked("job")
    if run_id is None:
        return
    with problems.noted():
        active = memory.jobs.get(run_id).status in ACTIVE

        @st.fragment(run_every=EVERY_S if active else None, key="facts-job")
        def look() -> None:
            run = memory.jobs.get(run_id)
            if active and run.status not in ACTIVE:
                st.rerun()
            _card(memory, run)

        look()


def _card(memory: Memory, run: RunView) -> None:
    with st.container(border=True, key="facts-job-card", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            icon = {"done": ":green[:material/check_circle:]", "failed": ":red[:material/error:]"}.get(
                run.status, ":primary[:material/progress_activity:]"
            )
            st.markdown(f"{icon} **{said.RUNNING}**", width="content")
            st.caption(figures.elapsed(run), width="content")
            st.space("stretch")
            if run.status in ACTIVE:
                st.button(said.STOP, key="facts-job-stop", type="tertiary", on_click=_stop, args=(memory, run.id))
            else:
                st.button(
                    "", icon=":material/close:", key="facts-job-close", type="tertiary", on_click=state.show, kwargs={"job": None}
                )
        for line in _lines(memory, run):
            st.markdown(f":small[{line}]")
        if run.status == "failed":
            problems.tell(run.error or said.FAILED, run.remedy)


def _stop(memory: Memory, run_id: str) -> None:
    memory.jobs.cancel(run_id)


def _lines(memory: Memory, run: RunView) -> list[str]:
    found = []
    for event in memory.runs.get(run.id).events:
        body = event.body
        if event.kind == "ConversationCut":
            messages = figures.plural(body["messages"], "message", "messages")
            found.append(said.CUT.format(messages=messages, cuts=figures.plural(body["cuts"], "part", "parts")))
        elif event.kind == "CutExtracted":
            facts = figures.plural(body["facts"], "fact", "facts")
            found.append(said.DRAWN.format(number=body["number"], of=body["of"], facts=facts))
        elif event.kind == "CutFailed":
            found.append(said.PART_FAILED.format(number=body["number"], of=body["of"]))
        elif event.kind == "FactsCompared":
            new, known = (
                figures.plural(body["new"], "new fact", "new facts"),
                figures.plural(body["known"], "known one", "known ones"),
            )
            found.append(said.COMPARED.format(new=new, known=known))
        elif event.kind == "FactsStored":
            added = figures.plural(body["added"], "fact added", "facts added")
            found.append(
                said.DONE.format(
                    added=added, outdated=figures.plural(body["outdated"], "known one outdated", "known ones outdated")
                )
            )
    return [md_escape(line) for line in found[-8:]]
