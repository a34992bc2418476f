"""Chunking compared with tiktoken's own speed and with other splitters, on the same English text, in o200k tokens.

The text is made of the long public texts, over and over, one word in seven exchanged for another so that no splitter
gains by remembering; the same every time. Every case runs once a round, in turn, so that load falls on all alike, and
each round has a text of its own.
A splitter counts as joining back when its pieces put together are the text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import tiktoken

from benchmarks import data
from benchmarks.frame import Size, figure, ratio, timed
from memoir_engine import chunk_text, count_tokens

FEATURES: tuple[str, ...] = ()
READS = ("longtext",)
MODEL = "gpt-4o-mini"
ENCODING = "o200k_base"
CHARACTERS = {"full": 10_000_000, "small": 200_000}
ROUNDS = {"full": 5, "small": 1}
MINIMUM, MAXIMUM = 300, 500
PEERS = ("chonkie", "langchain-text-splitters", "semchunk")
WHOLE = "tiktoken encode, whole text, counts only"
ONE, TWO = "memoir chunk_text, 1 thread", "memoir chunk_text, 2 threads"

Split = Callable[[str], Sequence[Any]]


def main(size: Size = "full") -> dict[str, Any]:
    first = timed(lambda: chunk_text("One sentence. " * 200, model=MODEL), runs=1)
    encoding = tiktoken.get_encoding(ENCODING)  # from the folder that the first count has set: nothing is downloaded
    peers, missing = _peers(encoding)
    ours: dict[str, Split] = {
        WHOLE: encoding.encode_ordinary,
        ONE: partial(chunk_text, model=MODEL, threads=1),
        TWO: partial(chunk_text, model=MODEL, threads=2),
    }
    made = _in_turn({**ours, **peers}, size)
    text = made_text(CHARACTERS[size], seed=0)
    reports = {name: _report(text, _pairs(split(text)), encoding) for name, split in {TWO: ours[TWO], **peers}.items()}
    return {
        "title": f"Chunks of at most {MAXIMUM} tokens, with exact counts and spans, of English text",
        "sizes": {"characters": len(text), "tokens": count_tokens(text, MODEL)},
        "figures": [
            *made.values(),
            ratio("1 thread beside tiktoken", made[ONE], made[WHOLE], aim=0.7),
            ratio("2 threads beside tiktoken", made[TWO], made[WHOLE], aim=1.0),
            *_ahead(made, [made[name] for name in peers if reports[name]["joins"]]),
            figure("first call in a process, 3 kB", first, "s", note="loads the encoding and builds its table"),
        ],
        "notes": [
            *(f"{name}: {_told(report)}" for name, report in reports.items()),
            *(f"{name}: not installed" for name in missing),
        ],
        "packages": PEERS,
    }


def made_text(characters: int, *, seed: int) -> str:
    """Repeat the long texts, with words exchanged, until there are enough characters."""
    whole = "\n\n".join(data.longtexts().values())
    words = re.findall(r"[A-Za-z]{4,}", whole)
    chance = random.Random(seed)
    parts: list[str] = []
    while sum(map(len, parts)) < characters:
        parts.append(re.sub(r"[A-Za-z]{4,}", lambda found: chance.choice(words) if chance.random() < 1 / 7 else found[0], whole))
    return "".join(parts)[:characters]


def _in_turn(cases: dict[str, Split], size: Size) -> dict[str, dict[str, Any]]:
    """Measure each case in MB of UTF-8 per second, each round with its own text."""
    speeds: dict[str, list[float]] = {name: [] for name in cases}
    for round_ in range(ROUNDS[size]):
        text = made_text(CHARACTERS[size], seed=round_ + 1)
        size_mb = len(text.encode()) / 1e6
        for name, split in cases.items():
            speeds[name] += [size_mb / taken for taken in timed(partial(split, text), runs=1)]
    return {name: figure(name, made, "MB/s", better="higher") for name, made in speeds.items()}


def _peers(encoding: tiktoken.Encoding) -> tuple[dict[str, Split], list[str]]:
    """Return the installed splitters as functions from a text to pieces, and the names of the missing ones."""
    makers: dict[str, Callable[[tiktoken.Encoding], dict[str, Split]]] = dict(
        zip(PEERS, (_chonkie, _langchain, _semchunk), strict=True)
    )
    found: dict[str, Split] = {}
    missing = []
    for name, make in makers.items():
        try:
            found |= make(encoding)
        except ImportError:
            missing.append(name)
    return found, missing


def _chonkie(encoding: tiktoken.Encoding) -> dict[str, Split]:
    chonkie = import_module("chonkie")
    return {
        "chonkie RecursiveChunker": chonkie.RecursiveChunker(tokenizer=encoding, chunk_size=MAXIMUM).chunk,
        "chonkie TokenChunker (cuts inside words)": chonkie.TokenChunker(
            tokenizer=encoding, chunk_size=MAXIMUM, chunk_overlap=0
        ).chunk,
    }


def _langchain(encoding: tiktoken.Encoding) -> dict[str, Split]:
    splitters = import_module("langchain_text_splitters")
    splitter = splitters.RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        encoding_name=encoding.name, chunk_size=MAXIMUM, chunk_overlap=0, add_start_index=True
    )
    return {"langchain RecursiveCharacterTextSplitter": lambda text: splitter.create_documents([text])}


def _semchunk(encoding: tiktoken.Encoding) -> dict[str, Split]:
    chunker = import_module("semchunk").chunkerify(encoding, MAXIMUM)

    def split(text: str) -> Sequence[Any]:
        pieces, offsets = chunker(text, offsets=True)
        return [(piece, start) for piece, (start, _) in zip(pieces, offsets, strict=True)]

    return {"semchunk, with offsets": split}


def _pairs(pieces: Sequence[Any]) -> list[tuple[str, int]]:
    """Normalise each splitter's pieces to (text, start)."""
    if pieces and hasattr(pieces[0], "page_content"):
        return [(piece.page_content, piece.metadata["start_index"]) for piece in pieces]
    if pieces and hasattr(pieces[0], "start_index"):
        return [(piece.text, piece.start_index) for piece in pieces]
    if pieces and hasattr(pieces[0], "tokens"):
        return [(piece.text, piece.start) for piece in pieces]
    return list(pieces)


def _report(text: str, pieces: list[tuple[str, int]], encoding: tiktoken.Encoding) -> dict[str, Any]:
    """Score the pieces, with every token counted afresh."""
    counts = [len(encoding.encode_ordinary(piece)) for piece, _ in pieces]
    return {
        "pieces": len(pieces),
        "joins": "".join(piece for piece, _ in pieces) == text,
        "spans": sum(text.startswith(piece, start) for piece, start in pieces) / len(pieces),
        "above": sum(count > MAXIMUM for count in counts),
        "below": sum(count < MINIMUM for count in counts) / len(counts),
    }


def _told(report: dict[str, Any]) -> str:
    joins = "join back" if report["joins"] else "do not join back"
    limits = f"{report['above']} above {MAXIMUM} tokens, {report['below']:.1%} below {MINIMUM}"
    return f"{report['pieces']} pieces, {joins}, {report['spans']:.0%} of spans exact, {limits}"


def _ahead(made: dict[str, dict[str, Any]], joining: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not joining:
        return []
    best = max(joining, key=lambda one: float(one["median"]))
    return [
        ratio(f"1 thread beside {best['name']}", made[ONE], best, aim=1.0),
        ratio(f"2 threads beside {best['name']}", made[TWO], best, aim=1.0),
    ]
