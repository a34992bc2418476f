"""Cutting conversations of one and twelve million tokens at messages, compared with counting tokens once and with other
splitters; and the distance of the cuts from the seams of joined talks.

The conversation is LoCoMo's messages over and over, one word in seven exchanged for another; the same every time. The others
split the joined text: they know no messages, so what they give cannot be traced to one.
Counting once is tiktoken's own, with two threads, of blocks in which the messages are parted by a special token: nothing exact is
known to be faster. Memory is what a process of its own grows by at its highest, over the conversation itself.
"""

from __future__ import annotations

import multiprocessing
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import tiktoken

from benchmarks import seams
from benchmarks.frame import Size, figure, ratio, timed
from memoir_engine import CHUNKERS, CutConversation, chunk_conversation

FEATURES = ("conversations",)
READS = ("locomo",)
MODEL, ENCODING = "gpt-4o-mini", "o200k_base"
MILLIONS = {"full": (1, 12), "small": (0.02, 0.04)}
ROUNDS = {"full": (3, 1), "small": (1, 1)}  # of the shorter and of the longer conversation
TALKS = {"full": 20, "small": 2}
MAXIMUM, OVERLAP = 8_000, 800
QUALITY_MAXIMUM, SITTINGS = 1_500, 20
CHARS_PER_TOKEN = 4.5
BETWEEN = "<|endoftext|>"
BLOCK = 600_000
PEERS = ("langchain-text-splitters", "semchunk")
COUNTING, SLIDING = "counting once (tiktoken, 2 threads)", "sliding_window"
STRATEGIES = (SLIDING, "conversation_boundary", "semantic")

Messages = list[dict[str, Any]]


def main(size: Size = "full") -> dict[str, Any]:
    chunk_conversation([{"role": "user", "content": "loads the encoding"}], model=MODEL)
    encoding = tiktoken.get_encoding(ENCODING)  # from the folder that the first count has set: nothing is downloaded
    figures: list[dict[str, Any]] = []
    sizes: dict[str, int] = {}
    notes: list[str] = []
    times: dict[str, list[dict[str, Any]]] = {}
    for millions, rounds in zip(MILLIONS[size], ROUNDS[size], strict=True):
        messages = conversation(millions)
        made = chunk_conversation(messages, model=MODEL, max_tokens=MAXIMUM)
        sizes |= {f"tokens_{millions:g}_M": made.tokens, f"messages_{millions:g}_M": made.messages}
        taken = _timed(messages, encoding, millions, rounds)
        for name, one in taken.items():
            times.setdefault(name, []).append(one)
        figures += [*taken.values(), *_beside(taken, millions), *_grown(messages, millions)]
        notes.append(_held(made, messages, encoding))
    figures += [*_linear(times, MILLIONS[size]), *_seams(TALKS[size])]
    return {
        "title": f"Conversations cut at messages into at most {MAXIMUM} tokens, and where they are cut",
        "sizes": sizes | {"joined_talks": 2 * TALKS[size]},
        "figures": figures,
        "notes": notes,
        "packages": PEERS,
    }


def conversation(millions: float) -> Messages:
    """Build a conversation of about this many million tokens."""
    pool = [message for _, sitting in seams.sittings() for message in sitting]
    words = re.findall(r"[A-Za-z]{4,}", " ".join(message["content"] for message in pool))
    chance = random.Random(7)
    messages: Messages = []
    left = millions * 1e6 * CHARS_PER_TOKEN
    while left > 0:
        one = pool[len(messages) % len(pool)]
        text = re.sub(
            r"[A-Za-z]{4,}", lambda found: chance.choice(words) if chance.random() < 1 / 7 else found[0], one["content"]
        )
        role = "user" if len(messages) % 2 == 0 else "assistant"
        messages.append({"role": role, "content": text, "id": f"m{len(messages)}"})
        left -= len(text)
    return messages


def counted_once(messages: Messages, encoding: tiktoken.Encoding) -> int:
    blocks: list[list[str]] = [[]]
    room = BLOCK
    for message in messages:
        if room <= 0:
            blocks.append([])
            room = BLOCK
        blocks[-1].append(message["content"])
        room -= len(message["content"])
    with ThreadPoolExecutor(2) as pool:
        tokens = pool.map(lambda block: len(encoding.encode_to_numpy(BETWEEN.join(block), allowed_special={BETWEEN})), blocks)
        return sum(tokens) - len(messages) + len(blocks)


def _cut(messages: Messages, strategy: str) -> CutConversation:
    return chunk_conversation(messages, model=MODEL, max_tokens=MAXIMUM, overlap_tokens=OVERLAP, strategy=strategy)


def _timed(messages: Messages, encoding: tiktoken.Encoding, millions: float, rounds: int) -> dict[str, dict[str, Any]]:
    """Measure the seconds of each case, taking turns so that load falls on all alike."""
    text = "\n".join(message["content"] for message in messages)
    cases: dict[str, Callable[[], Any]] = {COUNTING: partial(counted_once, messages, encoding)}
    cases |= {name: partial(_cut, messages, name) for name in STRATEGIES}
    cases |= {name: partial(split, text) for name, split in _peers(encoding).items()}
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, work in cases.items():
            taken[name] += timed(work, runs=1)
    return {name: figure(f"{name}, {millions:g} M tokens", runs, "s") for name, runs in taken.items()}


def _beside(taken: dict[str, dict[str, Any]], millions: float) -> list[dict[str, Any]]:
    """Express each strategy as a multiple of the counting, and ours relative to the other splitters."""
    times = [
        figure(
            f"{name}: times the counting, {millions:g} M tokens",
            [taken[name]["median"] / taken[COUNTING]["median"]],
            "×",
            aim=2.0 if name == SLIDING else None,
        )
        for name in STRATEGIES
    ]
    others = [name for name in taken if name not in (COUNTING, *STRATEGIES)]
    return times + [ratio(f"sliding_window beside {name}, {millions:g} M tokens", taken[SLIDING], taken[name]) for name in others]


def _linear(times: dict[str, list[dict[str, Any]]], millions: tuple[float, ...]) -> list[dict[str, Any]]:
    """Compare seconds per token of the longer and the shorter conversation: 1 is linear."""
    return [
        figure(f"{name}: growth beside linear", [longer["median"] / shorter["median"] * millions[0] / millions[1]], "×")
        for name, (shorter, longer) in times.items()
    ]


def _peers(encoding: tiktoken.Encoding) -> dict[str, Callable[[str], Any]]:
    """Return the installed splitters."""
    found: dict[str, Callable[[str], Any]] = {}
    try:
        splitters = import_module("langchain_text_splitters")
        found["langchain RecursiveCharacterTextSplitter, text joined"] = (
            splitters.RecursiveCharacterTextSplitter.from_tiktoken_encoder(
                encoding_name=encoding.name, chunk_size=MAXIMUM, chunk_overlap=OVERLAP
            ).split_text
        )
    except ImportError:
        pass
    try:
        found["semchunk, text joined"] = partial(import_module("semchunk").chunkerify(encoding, MAXIMUM), overlap=OVERLAP)
    except ImportError:
        pass
    return found


def _held(made: CutConversation, messages: Messages, encoding: tiktoken.Encoding) -> str:
    """Check that counts are exact and every message is in its cuts, recounting a sample of cuts one by one."""
    chance = random.Random(1)
    sample = chance.sample(made.cuts, min(20, len(made.cuts)))
    exact = sum(
        cut.tokens == sum(len(encoding.encode_ordinary(messages[index]["content"])) for index in cut.indexes)
        and cut.message_ids == tuple(messages[index]["id"] for index in cut.indexes)
        for cut in sample
    )
    held = {index for cut in made.cuts for index in cut.indexes}
    return (
        f"{made.tokens} tokens: {len(made.cuts)} cuts by sliding_window, {exact} of {len(sample)} recounted are exact with their "
        f"message ids, {len(held)} of {len(messages)} messages are in a cut"
    )


def _grown(messages: Messages, millions: float) -> list[dict[str, Any]]:
    if not Path("/proc/self/clear_refs").exists():
        return []
    context = multiprocessing.get_context("fork")
    grown = []
    for name in STRATEGIES:
        ours, theirs = context.Pipe()
        child = context.Process(target=_grow, args=(messages, name, theirs))
        child.start()
        aim = 200.0 if name == SLIDING else None
        grown.append(figure(f"{name}: memory over the data, {millions:g} M tokens", [ours.recv()], "MB", aim=aim))
        child.join()
    return grown


def _grow(messages: Messages, strategy: str, answer: Any) -> None:
    """Send the MB by which this process grew at its peak while cutting."""
    Path("/proc/self/clear_refs").write_text("5")  # begins the highest anew
    before = _status("VmRSS")
    made = _cut(messages, strategy)
    answer.send((_status("VmHWM") - before) / 1024 if made.cuts else 0.0)


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1])


def _seams(talks: int) -> list[dict[str, Any]]:
    """Measure Pk and WindowDiff of each strategy, on talks of any people and of the same two."""
    figures = []
    for of_one, kind in ((False, "sittings of several pairs"), (True, "sittings of one pair")):
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in STRATEGIES if name in CHUNKERS}
        for seed in range(talks):
            messages, true = seams.joined(random.Random(seed), count=SITTINGS, of_one=of_one)
            for name in found:
                made = chunk_conversation(messages, model=MODEL, max_tokens=QUALITY_MAXIMUM, overlap_tokens=0, strategy=name)
                found[name].append(seams.missed(true, [cut.first for cut in made.cuts[1:]], len(messages)))
        for at, measure in enumerate(("Pk", "WindowDiff")):
            fixed = figure(f"{measure}, fixed windows, {kind}", [one[at] for one in found[SLIDING]], "0–1")
            figures.append(fixed)
            figures += [
                figure(f"{measure}, {name}, {kind}", [one[at] for one in found[name]], "0–1", aim=fixed["median"])
                for name in STRATEGIES[1:]
            ]
    return figures
