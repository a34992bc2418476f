"""The final prompt fitted into its budget, asked, and its citations traced to spans.

Invariant: the recounted final prompt is within max_token_budget, or one more path is dropped, or it is an error.
A citation opens the very span: quotes are offsets into the source's text, found by the engine (verbatim, else by shared words).
Source: MEMOIR 9.B1–9.B2, 9.9, 9.F; DESIGN §9 "Helpers in prompts".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from memoir_engine.core.errors import AnswerOverBudget
from memoir_engine.core.events import AnswerReady, PathDropped
from memoir_engine.core.results import Chunk, DroppedPath, Helper, Source, UsedChunk
from memoir_engine.core.run import Run
from memoir_engine.prompts import answer as prompts_answer
from memoir_engine.query.budget import Compression, PathReading, PrunedPaths, Size, compression, drop_last, estimate, prune
from memoir_engine.query.record import Progress
from memoir_engine.runtime.model import AskQuestion
from memoir_engine.text.spans import claims, support
from memoir_engine.text.terms import search_tokens

Count = Callable[[str], int]
Summarise = Callable[[Sequence[Chunk], Compression], Awaitable[dict[int, str]]]


@dataclass(frozen=True)
class SourceContext:
    """What is known of a source whose chunks are read."""

    source: Source
    helper: Helper | None

    def short(self) -> str:
        return prompts_answer.short_helper(self.source.title, self.source.author, self.source.dated)


@dataclass(frozen=True)
class Final:
    """A prompt that fits: its readings, the helper of each source, and the text to be asked."""

    pruned: PrunedPaths
    helpers: tuple[str, ...]
    passages: tuple[prompts_answer.NumberedChunk, ...]
    tokens: int


def fit(
    question: str, readings: Sequence[PathReading], about: Mapping[int, SourceContext], *, budget: int, count: Count
) -> Final:
    """Drop paths until the whole prompt, recounted, is within the budget. Raises BudgetTooSmall (E303)."""
    size = _size(question, readings, about, budget=budget, count=count)
    pruned = prune(readings, budget, fixed_tokens=size.fixed_tokens)
    while True:
        final, fits = _recounted(question, pruned, about, budget=budget, count=count)
        if fits:
            return final
        pruned = drop_last(pruned, fixed_tokens=size.fixed_tokens, budget=budget)


async def fit_summarised(
    question: str,
    readings: Sequence[PathReading],
    about: Mapping[int, SourceContext],
    summarise: Summarise,
    *,
    budget: int,
    count: Count,
) -> Final:
    """Shorten every chunk in proportion where the whole is above the budget (MEMOIR 9.B3); nothing is dropped.

    Raises NoRoomForContent, SummariesTooLong, SummaryMissing, AnswerOverBudget.
    """
    chunks = [chunk for reading in readings for chunk in reading.chunks]
    empty = prompts_answer.number_chunks([(chunk.category_path, "") for chunk in chunks])
    helpers, fixed_tokens = _beside_summaries(question, empty, _forms(readings, about), budget=budget, count=count)
    wanted = compression(chunks, budget, fixed_tokens=fixed_tokens)
    texts = {} if wanted is None else await summarise(chunks, wanted)
    passages = prompts_answer.number_chunks([(chunk.category_path, texts.get(chunk.id, chunk.text)) for chunk in chunks])
    tokens = _recount(question, passages, helpers, count)
    if tokens > budget:
        raise AnswerOverBudget(tokens=tokens, budget=budget)
    return Final(PrunedPaths(tuple(readings), ()), helpers, passages, tokens)


async def answer(question: str, final: Final, ask: AskQuestion, progress: Progress, run: Run) -> None:
    """Ask the final prompt; the answer and its used chunks go into `progress`."""
    for reading in final.pruned.dropped:
        progress.dropped.append(dropped(reading))
        run.emit(PathDropped(reading.path.names, "budget"))
    reply = await ask(prompts_answer.build(question, final.passages, helpers=final.helpers))
    progress.heard("answer", reply)
    progress.answer = prompts_answer.Reply.model_validate(reply.data).answer
    chunks = [chunk for reading in final.pruned.kept for chunk in reading.chunks]
    progress.used = await asyncio.to_thread(used_chunks, progress.answer, chunks)
    run.emit(AnswerReady(len(progress.answer), sum(used.cited for used in progress.used)))


def dropped(reading: PathReading) -> DroppedPath:
    """A path that the budget had no room for."""
    return DroppedPath(reading.path.names, reading.path.category_ids, "budget", len(reading.chunks))


def used_chunks(text: str, chunks: Sequence[Chunk]) -> tuple[UsedChunk, ...]:
    """Every chunk of the final prompt with its number; the cited ones with the spans that support the citing sentences."""
    quotes: dict[int, list[tuple[int, int]]] = {number: [] for number in prompts_answer.citations(text, len(chunks))}
    for claim in claims(text, len(chunks)):
        for number in claim.numbers:
            found = support(claim.text, chunks[number - 1].text, tokenise=search_tokens)
            quotes[number].extend(found.spans)
    return tuple(_used(number, chunk, quotes) for number, chunk in enumerate(chunks, 1))


def _used(number: int, chunk: Chunk, quotes: Mapping[int, list[tuple[int, int]]]) -> UsedChunk:
    spans = tuple(sorted({(chunk.start + start, chunk.start + end) for start, end in quotes.get(number, ())}))
    return UsedChunk(
        chunk.id, chunk.category_path, number, chunk.source_id, chunk.start, chunk.end, spans, cited=number in quotes
    )


def _recounted(
    question: str, pruned: PrunedPaths, about: Mapping[int, SourceContext], *, budget: int, count: Count
) -> tuple[Final, bool]:
    """The final prompt with the fullest helpers that fit, and whether it fits at all."""
    passages = prompts_answer.number_chunks([(chunk.category_path, chunk.text) for r in pruned.kept for chunk in r.chunks])
    for helpers in _forms(pruned.kept, about):
        tokens = _recount(question, passages, helpers, count)
        if tokens <= budget:
            return Final(pruned, helpers, passages, tokens), True
    return Final(pruned, (), passages, tokens), False


def _recount(question: str, passages: Sequence[prompts_answer.NumberedChunk], helpers: tuple[str, ...], count: Count) -> int:
    built = prompts_answer.build(question, passages, helpers=helpers)
    return count(f"{built.instructions}\n\n{built.text}")


def _beside_summaries(
    question: str, empty: Sequence[prompts_answer.NumberedChunk], forms: Sequence[tuple[str, ...]], *, budget: int, count: Count
) -> tuple[tuple[str, ...], int]:
    """The fullest helpers that leave half the budget to the chunks, with the tokens of all that is not chunk."""
    sizes = [(helpers, _recount(question, empty, helpers, count)) for helpers in forms]
    return next((size for size in sizes if size[1] <= budget // 2), sizes[-1])


def _size(
    question: str, readings: Sequence[PathReading], about: Mapping[int, SourceContext], *, budget: int, count: Count
) -> Size:
    """The estimate (MEMOIR 9.B1): with the fullest helpers that leave room for every path, else for the best one, else none."""
    sizes = [estimate(readings, fixed_text=fixed, fixed_tokens=count(fixed)) for fixed in _fixed(question, readings, about)]
    best = readings[0].tokens if readings else 0
    fitting = [size for size in sizes if size.tokens <= budget]
    return next(iter(fitting or [size for size in sizes[1:] if size.fixed_tokens + best <= budget]), sizes[-1])


def _fixed(question: str, readings: Sequence[PathReading], about: Mapping[int, SourceContext]) -> list[str]:
    return [prompts_answer.fixed_text(question, helpers=helpers) for helpers in _forms(readings, about)]


def _forms(readings: Sequence[PathReading], about: Mapping[int, SourceContext]) -> tuple[tuple[str, ...], ...]:
    """One helper per source: whole, else cut to title, author and date, else none."""
    sources = list(dict.fromkeys(chunk.source_id for reading in readings for chunk in reading.chunks))
    known = [about[source] for source in sources if source in about]
    whole = tuple(each.helper.text for each in known if each.helper is not None)
    short = tuple(text for each in known if (text := each.short()))
    return tuple(dict.fromkeys((whole, short, ())))
