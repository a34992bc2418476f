"""Talks joined from several sittings with known seams, and measures of how near a division comes to them.

Pk and WindowDiff look through a window of half the mean length of a sitting, moved over the talk message by message: the first
counts the windows in which only one of both divisions has a seam, the second those in which they have different numbers of them.
0 is perfect; a division by chance, and none at all, come near .5.
Source: Beeferman, Berger, Lafferty 1999 (Pk); Pevzner and Hearst 2002 (WindowDiff).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import data

LOCOMO = "locomo/locomo_public3.json"

Messages = list[dict[str, Any]]


def sittings() -> list[tuple[int, Messages]]:
    """Return (conversation, messages) of every LoCoMo session, without times; of generated talks if it is absent."""
    path = data.find(LOCOMO)
    if path is None:
        return [(number, [_message(turn) for turn in turns]) for number, turns in data.sittings()]
    found = []
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        talk, n = sample["conversation"], 1
        while f"session_{n}" in talk:
            found.append((number, [_message(turn) for turn in talk[f"session_{n}"]]))
            n += 1
    return found


def joined(chance: random.Random, *, count: int, of_one: bool) -> tuple[Messages, list[int]]:
    """Join sittings in random order; return the messages and the indexes at which a new sitting begins.

    of_one: all of the same two people, else of any.
    """
    pool = sittings()
    if of_one:
        one = chance.choice(sorted({number for number, _ in pool}))
        pool = [sitting for sitting in pool if sitting[0] == one]
    messages: Messages = []
    seams: list[int] = []
    for _, sitting in chance.sample(pool, min(count, len(pool))):
        seams += [len(messages)] if messages else []
        messages += sitting
    return messages, seams


def missed(seams: Sequence[int], cuts: Sequence[int], messages: int) -> tuple[float, float]:
    """Return (Pk, WindowDiff) of cuts compared with the true seams; both list messages that begin a new part."""
    window = max(2, round(messages / (len(seams) + 1) / 2))
    true, found = (np.cumsum(np.bincount([*places], minlength=messages)) for places in (seams, cuts))
    at = np.arange(messages - window)
    there, here = true[at + window] - true[at], found[at + window] - found[at]
    return float(np.mean((there > 0) != (here > 0))), float(np.mean(there != here))


def _message(turn: dict[str, Any]) -> dict[str, Any]:
    caption = turn.get("blip_caption")
    return {"role": "user", "name": turn["speaker"], "content": f"{turn['text']} [{caption}]" if caption else turn["text"]}
