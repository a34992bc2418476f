"""Divide a conversation into cuts by a strategy, and check the strategy's result.

Messages above the maximum stand apart: each is a cut of its own, and one above the model's window is divided at sentences.
The strategy cuts the stretches between them; if its result is invalid, or it fails, the sliding window cuts instead.
`best_cuts` finds the best whole division, not the best next place: a cut costs a fixed price less the score of its place; a
place without a score, and a cut below the minimum, are so expensive that only the maximum can force them.
Invariant: the cuts hold every message in order; no message is divided that the model could read; the same conversation and
limits give the same cuts with the same ids. Pure; linear in the conversation as far as the strategy is.
Source: CHUNK 2, 3.4, 4.3–4.5, 5.5, 6, 13.2, 15.4, 15.5; spec README, small print on CHUNK 3.4 and 15.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from operator import index
from typing import SupportsIndex

import numpy as np

from memoir_engine.core.results.conversations import Cut, CutConversation, CutLimits
from memoir_engine.text.cut_strategies import (
    CHUNKERS,
    SLIDING_WINDOW,
    Chunker,
    Counter,
    CutInput,
    Embed,
    Ints,
    NoBoundaries,
    Range,
    find_fault,
    missing_need,
)
from memoir_engine.text.transcripts import Utterance

WHOLE = "whole"  # the strategy of what was not cut
OVERSIZE = "The message is longer than a cut may be ({tokens} of {most} tokens): it is a cut of its own."
SPLIT = (
    "The message is longer than the model's window ({tokens} of {window} tokens): it was divided into {parts} parts at sentences."
)
LARGE = "a message longer than a cut may be"
BEHIND_LARGE = "the message before it stands alone"
WINDOW_ASSUMED = "The context window of {model} is not known; {window} tokens are assumed. Set conversation.window_tokens."
APPROXIMATE = "Tokens of {model} are estimated ({basis}), expected within {error:g} % of the model's own count."
FELL_BACK = "The strategy {name} was not used: {why}. The sliding window cut instead."


@dataclass
class _Job:
    """State of one division. used: the strategy that cuts; a fallback replaces it.

    tokens: of the texts; taken: with each message's frame, which is what limits apply to.
    """

    conversation_id: str
    messages: Sequence[Utterance]
    tokens: Ints
    taken: Ints
    limits: CutLimits
    counter: Counter
    embed: Embed | None
    chunker: Chunker
    used: str
    warnings: list[str] = field(default_factory=list)


def divide(
    messages: Sequence[Utterance],
    counter: Counter,
    limits: CutLimits,
    *,
    conversation_id: str,
    model: str,
    strategy: str = SLIDING_WINDOW,
    automatic: bool = True,
    embed: Embed | None = None,
    frame_tokens: int = 0,
) -> CutConversation:
    """Cut a conversation longer than `limits.max_tokens`; with `automatic` off, or if it fits, it is one cut.

    embed: texts to vectors, for strategies that compare meanings. frame_tokens: cost of each message in a prompt beside its
    words; limits then apply to both together. Raises NotRegistered (E110) for an unknown strategy.
    """
    chunker, messages = CHUNKERS.get(strategy), tuple(messages)
    tokens = counter.counts([message.text for message in messages])
    taken = tokens + frame_tokens
    job = _Job(conversation_id, messages, tokens, taken, limits, counter, embed, chunker, strategy)
    triggered = automatic and int(taken.sum()) > limits.max_tokens
    if triggered:
        cuts = _numbered(job, list(_cut(job)))
    else:
        job.used = WHOLE
        cuts = _numbered(job, [_made(job, 0, len(messages))] if messages else [])
    return CutConversation(
        conversation_id=conversation_id,
        cuts=cuts,
        messages=len(messages),
        tokens=int(tokens.sum()),
        triggered=triggered,
        asked=strategy,
        strategy=job.used,
        model=model,
        limits=limits,
        method=counter.method,
        message_tokens=tuple(tokens.tolist()),
        warnings=(*_about(counter, limits, model), *dict.fromkeys(job.warnings)),
    )


def _about(counter: Counter, limits: CutLimits, model: str) -> Iterator[str]:
    if not counter.method.exact:
        yield APPROXIMATE.format(model=model, basis=counter.method.basis, error=counter.method.error_percent)
    if not limits.window_known:
        yield WINDOW_ASSUMED.format(model=model, window=limits.window)


def _cut(job: _Job) -> Iterator[Cut]:
    """Yield cuts: stretches without a message above the maximum by the strategy, such messages by themselves."""
    first = 0
    job.taken.flags.writeable = False  # a plug-in is shown the very counts that its cuts are checked by
    talk = CutInput(job.messages, job.taken, job.embed)
    missing = _missing(job, talk)
    if missing is not None:
        _fall_back(job, f"it needs {missing}")
    for large in [*np.flatnonzero(job.taken > job.limits.max_tokens).tolist(), len(job.messages)]:
        if large > first:
            yield from _stretch(job, talk.slice(first, large), first)
        if large < len(job.messages):
            yield from _oversize(job, large)
        first = large + 1


def _missing(job: _Job, talk: CutInput) -> str | None:
    try:
        return missing_need(job.chunker, talk, exact=job.counter.method.exact)
    except TypeError:
        return "what it does not name in a set of words"


def _stretch(job: _Job, talk: CutInput, offset: int) -> list[Cut]:
    ranges = _ranges(job, talk)
    sums = np.concatenate(([0], np.cumsum(job.tokens[offset : offset + len(talk)])))
    cuts, before = [], 0
    for one in ranges:
        shared = max(before - one.first, 0)
        tokens = int(sums[one.first + shared] - sums[one.first])
        reason = one.reason or (BEHIND_LARGE if offset and not before else "")
        made = _made(job, offset + one.first, offset + one.stop)
        cuts.append(replace(made, reason=reason, overlap_messages=shared, overlap_tokens=tokens))
        before = one.stop
    return cuts


def _ranges(job: _Job, talk: CutInput) -> Sequence[Range]:
    try:
        ranges = [_range(*one) for one in job.chunker(talk, job.limits)]
        why = find_fault(ranges, talk, job.limits)
    except NoBoundaries as none:
        why = str(none)
    except Exception as failed:  # a plug-in may raise anything
        why = f"it failed ({type(failed).__name__})"
    if why is None:
        return ranges
    _fall_back(job, why)
    return job.chunker(talk, job.limits)


def _range(first: SupportsIndex, stop: SupportsIndex, reason: str = "") -> Range:
    """Convert a plug-in's numbers and words to our own types."""
    return Range(int(index(first)), int(index(stop)), str(reason))


def _fall_back(job: _Job, why: str) -> None:
    job.warnings.append(FELL_BACK.format(name=job.used, why=why))
    job.used, job.chunker = SLIDING_WINDOW, CHUNKERS.get(SLIDING_WINDOW)


def _oversize(job: _Job, index: int) -> list[Cut]:
    tokens, limits = int(job.taken[index]), job.limits
    made = replace(_made(job, index, index + 1), oversize=True, reason=LARGE if index else "")
    if tokens <= limits.window:
        said = OVERSIZE.format(tokens=tokens, most=limits.max_tokens)
        job.warnings.append(f"{said} (message {index})")
        return [replace(made, warnings=(said,))]
    frame = tokens - int(job.tokens[index])
    parts = job.counter.parts(job.messages[index].text, max(limits.max_tokens - frame, 1))
    said = SPLIT.format(tokens=tokens, window=limits.window, parts=len(parts))
    job.warnings.append(f"{said} (message {index})")
    return [
        replace(made, tokens=size, split=(part, len(parts)), start=start, end=end, warnings=(said,))
        for part, (start, end, size) in enumerate(parts, 1)
    ]


def _made(job: _Job, first: int, stop: int) -> Cut:
    return Cut(
        id="",
        conversation_id=job.conversation_id,
        n=0,
        of=0,
        strategy=job.used,
        first=first,
        last=stop - 1,
        message_ids=tuple(message.id for message in job.messages[first:stop]),
        tokens=int(job.tokens[first:stop].sum()),
    )


def _numbered(job: _Job, cuts: list[Cut]) -> tuple[Cut, ...]:
    return tuple(
        replace(cut, n=n, of=len(cuts), id=_id(job, cut, n, len(cuts)), strategy=job.used) for n, cut in enumerate(cuts, 1)
    )


def _id(job: _Job, cut: Cut, n: int, of: int) -> str:
    limits = (job.limits.max_tokens, job.limits.min_tokens, job.limits.overlap_tokens)
    digest = blake2b(repr((job.conversation_id, job.used, limits, n, of, cut.first, cut.start)).encode(), digest_size=12)
    for message in job.messages[cut.first : cut.last + 1]:
        digest.update(b"\x00" + message.text.encode("utf-8", "surrogatepass"))
    return f"cut-{digest.hexdigest()}"
