"""Numbers, times and names formatted for people.

Invariant: a figure never claims more than is known: an unknown price is not zero, an estimate is marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from memoir_engine import Call, Chunk, RunView
from ui.escape import md_escape

_STEPS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (30 * 86_400, 86_400, "d"))


def count(number: int) -> str:
    return f"{number:,}"


def short(number: int) -> str:
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.1f} k" if number < 1_000_000 else f"{number / 1_000_000:.1f} M"


def plural(number: int, one: str, many: str) -> str:
    return f"{count(number)} {one if number == 1 else many}"


def duration(ms: float) -> str:
    if ms < 10:
        return f"{ms:.1f} ms"
    if ms < 1_000:
        return f"{ms:.0f} ms"
    return f"{ms / 1_000:.1f} s" if ms < 60_000 else f"{ms / 60_000:.1f} min"


def money(cost: float | None) -> str:
    if cost is None:
        return "unknown"
    if cost == 0:
        return "$0"
    return f"${cost:.4f}" if cost < 0.01 else f"${cost:,.2f}"


def tokens(number: int) -> str:
    return plural(number, "token", "tokens")


def path(names: Sequence[str]) -> str:
    return " › ".join(names)


def chunk_name(chunk: Chunk) -> str:
    return f"Chunk {chunk.position + 1}"


def call(call: Call) -> str:
    return f"{duration(call.latency_ms)} · {call.tokens_prompt + call.tokens_completion:,} tok"


def elapsed(run: RunView) -> str:
    end = run.ended_at or datetime.now(UTC)
    return duration((end - run.started_at).total_seconds() * 1_000)


def spent(run: RunView) -> str:
    """Format a run's time for Markdown, with its calls, tokens and cost if it had any."""
    if not run.calls:
        return elapsed(run)
    used = short(run.tokens_prompt + run.tokens_completion)
    return f"{elapsed(run)} · {plural(run.calls, 'call', 'calls')} · {used} tokens · {md_escape(money(run.cost))}"


def ago(when: datetime) -> str:
    seconds = max(0.0, (datetime.now(UTC) - when).total_seconds())
    if seconds < 10:
        return "just now"
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{int(seconds // unit)} {name} ago"
    return stamp(when)[:10]


def stamp(when: datetime) -> str:
    """Format a moment in the viewer's time zone."""
    return when.astimezone(zone()).strftime("%Y-%m-%d %H:%M:%S")


def zone() -> tzinfo:
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def shortened(name: str, limit: int = 60) -> str:
    """Cut a name in the middle, so that the beginning and a file's extension stay."""
    flat = " ".join(name.split())
    if len(flat) <= limit:
        return flat
    tail = min(14, limit // 3)
    return f"{flat[: limit - tail - 1].rstrip()}…{flat[-tail:].lstrip()}"


def named(name: str, limit: int) -> tuple[str, str | None]:
    """Return a name as Markdown, and the whole name for a tooltip if it had to be cut."""
    short = shortened(name, limit)
    return md_escape(short), None if short == " ".join(name.split()) else md_escape(name)


def one_line(text: str, limit: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def score(value: float) -> str:
    """Format a score to three significant digits."""
    return f"{value:.3g}"
