"""The final prompt fitted into its budget, asked, and its citations traced to spans.

Invariant: the recounted final prompt is within max_token_budget, or one more path is dropped, or it is an error.
A citation opens the very span: quotes are offsets into the source's text, found by the engine (verbatim, else by shared words).
Source: MEMOIR 9.B1–9.B2, 9.9, 9.F; DESIGN §9 "Helpers in prompts".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memoir_engine.events import AnswerReady, PathDropped
from memoir_engine.prompts import answer as prompt
from memoir_engine.query.budget import Pruned, Reading, drop_last, estimate, prune
from memoir_engine.query.progress import Progress
from memoir_engine.query.traverse import Ask, response
from memoir_engine.results import Chunk, DroppedPath, Helper, Source, UsedChunk
from memoir_engine.run import Run
from memoir_engine.text.citations import claims
from memoir_engine.text.support import support
from memoir_engine.text.terms import tokens as tokenise

Count = Callable[[str], int]


@dataclass(frozen=True)
class About:
    """What is known of a source whose chunks are read."""

    source: Source
    helper: Helper | None

    def short(self) -> str:
        return prompt.short_helper(self.source.title, self.source.author, self.source.dated)


@dataclass(frozen=True)
class Final:
    """A prompt that fits: its readings, the helper of each source, and the text to be asked."""

    pruned: Pruned
    helpers: tuple[str, ...]
    passages: tuple[prompt.Passage, ...]
    tokens: int


def fit(question: str, readings: Sequence[Reading], about: Mapping[int, About], *, budget: int, count: Count) -> Final:
    """Drop paths until the whole prompt, recounted, is within the budget. Raises BudgetTooSmall (E303)."""
    helpers = _helpers(question, readings, about, budget=budget, count=count)
    fixed = prompt.fixed_text(question, helpers=helpers)
    fixed_tokens = estimate(readings, fixed_text=fixed, fixed_tokens=count(fixed)).fixed_tokens
    pruned = prune(readings, budget, fixed_tokens=fixed_tokens)
    while True:
        helpers = _helpers(question, pruned.kept, about, budget=budget, count=count)
        passages = prompt.passages([(chunk.category_path, chunk.text) for r in pruned.kept for chunk in r.chunks])
        tokens = _recount(question, passages, helpers, count)
        if tokens <= budget:
            return Final(pruned, helpers, passages, tokens)
        pruned = drop_last(pruned, fixed_tokens=fixed_tokens, budget=budget)


async def answer(question: str, final: Final, ask: Ask, progress: Progress, run: Run) -> None:
    """Ask the final prompt; the answer and its used chunks go into `progress`."""
    for reading in final.pruned.dropped:
        progress.dropped.append(DroppedPath(reading.path.names, reading.path.category_ids, "budget", len(reading.chunks)))
        run.emit(PathDropped(reading.path.names, "budget"))
    reply = await ask(prompt.build(question, final.passages, helpers=final.helpers))
    progress.deterministic &= reply.deterministic
    progress.responses.append(response("answer", reply))
    progress.answer = prompt.Reply.model_validate(reply.data).answer
    chunks = [chunk for reading in final.pruned.kept for chunk in reading.chunks]
    progress.used = await asyncio.to_thread(used_chunks, progress.answer, chunks)
    run.emit(AnswerReady(len(progress.answer), sum(used.cited for used in progress.used)))


def used_chunks(text: str, chunks: Sequence[Chunk]) -> tuple[UsedChunk, ...]:
    """Every chunk of the final prompt with its number; the cited ones with the spans that support the citing sentences."""
    quotes: dict[int, list[tuple[int, int]]] = {number: [] for number in prompt.citations(text, len(chunks))}
    for claim in claims(text, len(chunks)):
        for number in claim.numbers:
            found = support(claim.text, chunks[number - 1].text, tokenise=tokenise)
            quotes[number].extend(found.spans)
    return tuple(_used(number, chunk, quotes) for number, chunk in enumerate(chunks, 1))


def _used(number: int, chunk: Chunk, quotes: Mapping[int, list[tuple[int, int]]]) -> UsedChunk:
    spans = tuple(sorted({(chunk.start + start, chunk.start + end) for start, end in quotes.get(number, ())}))
    return UsedChunk(
        chunk.id, chunk.category_path, number, chunk.source_id, chunk.start, chunk.end, spans, cited=number in quotes
    )


def _helpers(
    question: str, readings: Sequence[Reading], about: Mapping[int, About], *, budget: int, count: Count
) -> tuple[str, ...]:
    """One per source, whole where all fit, else cut to title, author and date, else none."""
    sources = list(dict.fromkeys(chunk.source_id for reading in readings for chunk in reading.chunks))
    known = [about[source] for source in sources if source in about]
    whole = tuple(each.helper.text for each in known if each.helper is not None)
    short = tuple(text for each in known if (text := each.short()))
    least = min((reading.tokens for reading in readings), default=0)
    room = budget - sum(reading.tokens for reading in readings)
    for helpers, needed in ((whole, room), (short, room), ((), 0)):
        if count(prompt.fixed_text(question, helpers=helpers)) <= max(needed, 0):
            return helpers
    # Nothing fits beside all paths: paths will be dropped, so the short form stays if it leaves room for one of them.
    return short if short and count(prompt.fixed_text(question, helpers=short)) + least <= budget else ()


def _recount(question: str, passages: Sequence[prompt.Passage], helpers: tuple[str, ...], count: Count) -> int:
    built = prompt.build(question, passages, helpers=helpers)
    return count(f"{built.instructions}\n\n{built.text}")
