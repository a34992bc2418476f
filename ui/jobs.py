"""Jobs on the screen: what is being filed, what became of each chunk as it happens, and how the others ended.

Invariant: only a running job is asked again and again, and only for what happened since; when none runs, nothing polls.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from memoir_engine import EventView, Memory, RunView
from ui import figures, problems, wording
from ui.escape import md_escape

INGESTS = ("ingest_file", "ingest_text", "load_samples")
ACTIVE = ("queued", "running", "waiting_helper")
EVERY_S = 0.6
LINES = 6
ENDED = 3  # cards of ended jobs; older ones are folded away
MOST = 20


@dataclass
class Feed:
    """What is known of a running job; kept as text between two looks, so that only new events are read."""

    n: int = 0
    total: int = 0
    placed: int = 0
    waiting: bool = False
    lines: list[str] = field(default_factory=list)

    def take(self, event: EventView) -> None:
        body, self.n = event.body, event.n
        if event.kind == "Waiting":
            self.waiting = True
        elif event.kind == "ChunksCut":
            self.total, self.waiting = self.total + int(body["chunks"]), False
        elif event.kind == "ChunkPlaced":
            self.placed += 1
            self.lines = [_line(body), *self.lines[: LINES - 1]]


def live(memory: Memory) -> None:
    """The list of jobs, which redraws itself while one of them runs."""
    busy = _any_active(_runs(memory))

    @st.fragment(run_every=EVERY_S if busy else None, key="jobs")
    def draw() -> None:
        runs = _runs(memory)
        if busy and not _any_active(runs):
            st.rerun()  # once more in full: polling ends, and the list of sources is read again
        if not runs:
            st.caption(wording.NO_JOBS)
        shown = [run for run in runs if run.verb != "load_samples" or run.status == "failed"]  # its documents have their own
        front = [run for run in shown if run.status in ACTIVE] + [run for run in shown if run.status not in ACTIVE][:ENDED]
        for run in front:
            _card(memory, run)
        if len(shown) > len(front):
            with st.expander(wording.EARLIER):
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
            st.markdown(f":material/description: **{md_escape(name_of(run))}**", width="content")
            status_badge(run.status)
            st.space("stretch")
            if run.status in ACTIVE:
                st.button(
                    wording.CANCEL, key=f"cancel-{run.id}", icon=":material/stop_circle:", on_click=_cancel, args=(memory, run.id)
                )
            elif run.result.get("source_id"):
                st.page_link(
                    "../pages/sources.py",
                    label="Open",
                    icon=":material/arrow_forward:",
                    query_params={"src": str(run.result["source_id"])},
                )
        if run.status in ACTIVE:
            _progress(memory, run)
        else:
            _ending(run)


def _progress(memory: Memory, run: RunView) -> None:
    feed = _feed(memory, run.id)
    if feed.waiting:
        st.caption(wording.WAITS)
    rate = f" · {feed.placed / max(_seconds(run), 0.1):.1f}/s" if feed.placed else ""
    text = f"{figures.count(feed.placed)} / {figures.plural(feed.total, 'chunk', 'chunks')}{rate} · {_spent(run)}"
    st.progress(min(1.0, feed.placed / feed.total) if feed.total else 0.0, text=text)
    if feed.lines:
        st.code("\n".join(feed.lines), language=None)


def _ending(run: RunView) -> None:
    if run.status == "cancelled":
        st.caption(wording.CANCELLED)
    elif run.status == "interrupted":
        st.caption(wording.INTERRUPTED_NOTE)
    elif run.error:
        problems.tell(run.error, run.remedy)
    result = run.result
    made = [
        figures.plural(int(result[name]), one, many)
        for name, one, many in (("chunks", "chunk", "chunks"), ("new_categories", "new category", "new categories"))
        if result.get(name) is not None
    ]
    st.caption(" · ".join([*made, _spent(run), figures.ago(run.started_at)]))


def _spent(run: RunView) -> str:
    tokens = run.tokens_prompt + run.tokens_completion
    calls = figures.plural(run.calls, "call", "calls")
    return f"{figures.elapsed(run)} · {calls} · {figures.short(tokens)} tokens · {md_escape(figures.money(run.cost))}"


def _seconds(run: RunView) -> float:
    return ((run.ended_at or datetime.now(UTC)) - run.started_at).total_seconds()


def _feed(memory: Memory, run_id: str) -> Feed:
    key = f"feed-{run_id}"
    feed = Feed(**json.loads(st.session_state.get(key, "{}")))
    for event in memory.runs.events(run_id, after=feed.n):
        feed.take(event)
    st.session_state[key] = json.dumps(asdict(feed))
    return feed


def _line(body: dict[str, Any]) -> str:
    return f"{int(body['position']) + 1:>4}  {figures.path(body['path'])}   “{figures.one_line(str(body['quote']), 44)}”"


def _cancel(memory: Memory, run_id: str) -> None:
    if not memory.jobs.cancel(run_id):
        st.toast(wording.TOO_LATE, icon=":material/info:")
