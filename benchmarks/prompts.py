"""Tokens that filing sends, what of them a provider's cache would hold, and the price of a megabyte.

The offline model files the long texts at depth 3; the requests are those that any model would get for this tree. Counted as for
gpt-4o-mini: the form of the reply, instructions, text. A request reads from the cache what it has in common with an earlier one,
from the start, where that is 1,024 tokens or more, in steps of 128, as OpenAI's does. A chunk's next level waits for the level
before, so requests in flight together change little.
"""

from __future__ import annotations

import json
import tempfile
from bisect import bisect_left, insort
from collections.abc import Iterable
from os.path import commonprefix
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.frame import Size, figure
from memoir_engine import Memory, count_tokens

FEATURES = ("ingest",)
READS = ("longtext",)
PRICED = "gpt-4o-mini"
SENT_USD, CACHED_USD, ANSWERED_USD = 0.15, 0.075, 0.60  # of a million tokens
LEAST, STEP = 1024, 128  # tokens of a prefix that OpenAI caches
AIM_TOKENS, AIM_CALLS = 1_700, 1.1
SETTINGS: dict[str, Any] = {"model": "offline", "hierarchy_depth": 3, "max_concurrency": 1}


def main(size: Size) -> dict[str, Any]:
    texts = list(data.longtexts().items())[: None if size == "full" else 2]
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), **SETTINGS) as memory:
        runs = [memory.ingest_text(text[:60_000], name=name).raise_for_error() for name, text in texts]
        asked = [body for run in runs for body in requests(memory, run.run_id)]
    chunks, megabytes = sum(run.chunks for run in runs), sum(len(text[:60_000].encode()) for _, text in texts) / 1e6
    sent, cached, answered = counted(asked)
    aims = size == "full"
    return {
        "title": "Tokens of filing: sent, cached, paid",
        "sizes": {"texts": len(texts), "chunks": chunks, "depth": 3},
        "figures": [
            figure("calls per chunk", [len(asked) / chunks], "calls", aim=AIM_CALLS if aims else None),
            figure("uncached tokens per chunk", [(sent - cached) / chunks], "tokens", aim=AIM_TOKENS if aims else None),
            figure("cached tokens per chunk", [cached / chunks], "tokens", better="higher"),
            figure("price of a megabyte, gpt-4o-mini", [usd(sent, cached, answered) / megabytes], "USD"),
            figure("price of a megabyte without a cache", [usd(sent, 0, answered) / megabytes], "USD"),
        ],
        "notes": [
            "The tree is the offline model's. A cache as OpenAI's: common beginnings from 1,024 tokens on, in steps of 128."
        ],
    }


def requests(memory: Memory, run_id: str) -> list[tuple[str, str]]:
    """Return what each call of a run sent, in the order of a prompt, and its reply."""
    found = []
    for row in memory.runs.calls(run_id):
        call = memory.runs.call(row.id)
        body = json.loads(call.prompt or "{}")
        words = "\n".join(str(turn["content"]) for turn in body.get("messages", ()))
        found.append((json.dumps(body.get("schema"), ensure_ascii=False) + "\n" + words, call.reply or ""))
    return found


def usd(sent: int, cached: int, answered: int) -> float:
    return ((sent - cached) * SENT_USD + cached * CACHED_USD + answered * ANSWERED_USD) / 1e6


def counted(asked: Iterable[tuple[str, str]]) -> tuple[int, int, int]:
    """Return the tokens sent, those of them in the cache, and those of the replies."""
    earlier: list[str] = []
    sent = cached = answered = 0
    for words, reply in asked:
        at = bisect_left(earlier, words)  # the longest common beginning is with a neighbour
        shared = max((commonprefix([words, other]) for other in earlier[max(0, at - 1) : at + 1]), key=len, default="")
        whole, prefix = count_tokens(words, PRICED), count_tokens(shared, PRICED)
        sent, answered = sent + whole, answered + count_tokens(reply, PRICED)
        cached += prefix - prefix % STEP if prefix >= LEAST else 0
        insort(earlier, words)
    return sent, cached, answered
