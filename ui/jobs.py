"""Jobs on the screen: what is being filed, what became of each chunk as it happens, and how the others ended.

Invariant: only a running job is asked again and again, and only for what happened since; when none runs, nothing polls.
"""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from memoir_engine import Memory, RunView
from ui import feed, figures, job_log, problems, wording
from ui import wording_sources as said
from ui.escape import md_escape

INGESTS = ("ingest_file", "ingest_text", "load_samples")
ACTIVE = ("queued", "running")
WAITING = "waiting_helper"  # for a person: nothing to poll for
EVERY_S = 0.6
ENDED = 3  # cards of jobs that do not run; older ones are folded away
MOST = 20


def live(memory: Memory) -> None:
    """The list of jobs, which redraws itself while one of them runs."""
    busy = _any_active(_runs(memory))

    @st.fragment(run_every=EVERY_S if busy else None, key="jobs")
    def draw() -> None:
        runs = _runs(memory)
        if busy and not _any_active(runs):
            st.rerun()  # once more in full: polling ends, and the list of sources is read again
        if not runs:
            st.caption(said.NO_JOBS)
        shown = [run for run in runs if run.verb != "load_samples" or run.status == "failed"]  # its documents have their own
        front = [run for run in shown if run.status in ACTIVE] + [run for run in shown if run.status not in ACTIVE][:ENDED]
        for run in front:
            _card(memory, run)
        if len(shown) > len(front):
            with st.expander(said.EARLIER):
                for run in [run for run in shown if run not in front]:
                    _card(memory, run)

    draw()


def any_known(memory: Memory) -> bool:
    return bool(_runs(memory))


def status_badge(status: str) -> None:
    label, color, icon = wording.STATUS.get(status, (status, "gray", None))
    st.badge(label, color=color, icon=icon)  # type: ignore[arg-type]  # the colours of wording.STATUS are Streamlit's


def name_of(run: RunView) -> str:
    return str(run.request.get("name") or run.request.get("question") or wording.VERBS.get(run.verb, run.verb))


def _runs(memory: Memory) -> tuple[RunView, ...]:
    return memory.jobs.list(limit=MOST, verbs=INGESTS)


def _any_active(runs: tuple[RunView, ...]) -> bool:
    return any(run.status in ACTIVE for run in runs)


def _card(memory: Memory, run: RunView) -> None:
    with st.container(border=True, key=f"job-{run.id}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/description: **{md_escape(figures.one_line(name_of(run), 60))}**", width="content")
            status_badge(run.status)
            st.space("stretch")
            _buttons(memory, run)
        if run.status in ACTIVE:
            _progress(memory, run)
        elif run.status == WAITING:
            st.caption(f"{said.WAITS_FOR_YOU} :gray[{figures.ago(run.started_at)}]")
        else:
            _ending(memory, run)
        if run.calls or run.result.get("estimate"):
            job_log.show(memory, run)


def _buttons(memory: Memory, run: RunView) -> None:
    if run.status in ACTIVE:
        st.button(said.CANCEL, key=f"cancel-{run.id}", icon=":material/stop_circle:", on_click=_cancel, args=(memory, run.id))
    elif run.status == WAITING:
        _link(said.SAY_WHAT, ":material/edit_note:", draft=run.id)
        _give_up(memory, run.id, said.DRAFT_CANCEL)
    elif run.resumable:
        if st.button(said.RESUME, key=f"resume-{run.id}", icon=":material/play_arrow:", type="primary"):
            with problems.noted():
                memory.jobs.resume(run.id)
                st.rerun()
        _give_up(memory, run.id, said.DISCARD)
    elif run.result.get("source_id"):
        _link("Open", ":material/arrow_forward:", src=run.result["source_id"])


def _link(label: str, icon: str, **parameters: str | int) -> None:
    query = {name: str(value) for name, value in parameters.items()}
    st.page_link("../pages/sources.py", label=label, icon=icon, query_params=query)


def _give_up(memory: Memory, run_id: str, label: str) -> None:
    if st.button(label, key=f"give-up-{run_id}", icon=":material/delete:", help=said.DISCARD_HELP):
        with problems.noted():
            memory.jobs.cancel(run_id)
            st.rerun()


def _progress(memory: Memory, run: RunView) -> None:
    known = feed.of(memory, run.id)
    if known.waiting:
        st.caption(said.WAITS)
    rate = f" · {known.placed / max(_seconds(run), 0.1):.1f}/s" if known.placed else ""
    text = f"{figures.count(known.placed)} / {figures.plural(known.total, 'chunk', 'chunks')}{rate} · {figures.spent(run)}"
    st.progress(min(1.0, known.placed / known.total) if known.total else 0.0, text=text)
    if known.lines:
        st.code("\n".join(known.lines), language=None)


def _ending(memory: Memory, run: RunView) -> None:
    if run.status == "cancelled":
        st.caption(said.CANCELLED)
    elif run.status == "interrupted":
        st.caption(said.INTERRUPTED)
    elif run.error:
        problems.tell(run.error, run.remedy)
    if run.resumable:
        st.caption(f":material/play_arrow: {job_log.going_on(memory, run)}")
    for warning in run.result.get("warnings", ()):
        st.caption(f":orange[:material/warning:] {md_escape(str(warning))}")
    result = run.result
    made = [
        figures.plural(int(result[name]), one, many)
        for name, one, many in (("chunks", "chunk", "chunks"), ("new_categories", "new category", "new categories"))
        if result.get(name) is not None and not run.error
    ]
    st.caption(" · ".join([*made, figures.spent(run), figures.ago(run.started_at)]))


def _seconds(run: RunView) -> float:
    return ((run.ended_at or datetime.now(UTC)) - run.started_at).total_seconds()


def _cancel(memory: Memory, run_id: str) -> None:
    if not memory.jobs.cancel(run_id):
        st.toast(said.TOO_LATE, icon=":material/info:")
