"""Cut a conversation and draw facts from it, measured: the part that `remember` and `extract` have in common.

Invariant: nothing is stored. The measurements go to the run's events and to the log.
Source: CHUNK 2, 7, 11, 12.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from memoir_engine.core.errors import MemoirError, RememberingCancelled
from memoir_engine.core.events import ConversationCut, ExtractionMeasured, Warned
from memoir_engine.core.ports import Vectors
from memoir_engine.core.results import CutConversation
from memoir_engine.core.results.facts import ExtractionMetrics
from memoir_engine.core.run import Run
from memoir_engine.facts.extraction import Extraction, ExtractionInput, Utterance, extract, utterances
from memoir_engine.prompts.facts import FRAME_TOKENS
from memoir_engine.runtime.chunking import chunk_conversation
from memoir_engine.runtime.engine import Engine
from memoir_engine.runtime.model import Asking
from memoir_engine.text.messages import Message

if TYPE_CHECKING:
    from datetime import datetime

EMBEDDED_CHARS = 2_000  # per message: its beginning tells its subject, and embedders refuse long texts
BY_WORDS = "Where the subject shifts was told by words, since the embedder could not be asked: {problem}"

_log = logging.getLogger(__name__)


@dataclass
class ExtractionRun:
    """Progress of one extraction."""

    conversation: str = ""
    made: CutConversation | None = None
    extraction: Extraction | None = None
    began_ms: float = 0.0
    cutting_ms: float = 0.0
    warnings: list[str] = field(default_factory=list)
    untimed: datetime | None = None  # the time given to messages that have none

    def metrics(self, now_ms: float) -> ExtractionMetrics:
        cuts = self.made.cuts if self.made else ()
        got = self.extraction
        return ExtractionMetrics(
            total_ms=now_ms - self.began_ms,
            cutting_ms=self.cutting_ms,
            extraction_ms=got.extraction_ms if got else 0.0,
            deduplication_ms=got.deduplication_ms if got else 0.0,
            cuts=len(cuts),
            failed_cuts=len(got.failures) if got else 0,
            tokens=self.made.tokens if self.made else 0,
            tokens_per_cut=tuple(cut.tokens for cut in cuts),
            overlap_tokens=self.made.overlap_tokens if self.made else 0,
            drawn=got.drawn if got else 0,
            duplicates_merged=got.merged.duplicates if got else 0,
            unsupported=got.unsupported if got else 0,
            relations=len(got.links) if got else 0,
            orphans_removed=got.orphans if got else 0,
        )


async def run_extraction(
    engine: Engine,
    user: str | None,
    conversation: str,
    messages: Sequence[Message],
    drawing: ExtractionRun,
    run: Run,
    *,
    before: Sequence[Message] = (),
) -> tuple[Extraction, tuple[Utterance, ...]]:
    """Cut the messages and extract their facts. before: earlier messages, already read; their last cut is recapped."""
    config = engine.resolved.config
    began = run.clock.tick_ms()
    made = await _divided(engine, conversation, messages, drawing, run)
    drawing.made, drawing.cutting_ms = made, run.clock.tick_ms() - began
    drawing.warnings += made.warnings
    run.emit(_cut(made))
    shown = utterances(messages)
    ask = Asking(engine, run, RememberingCancelled())
    behind = await _last_cut(engine, conversation, before) if before else ()
    read = ExtractionInput(shown, made.cuts, user or "the user", config.zone, utterances(behind), drawing.untimed)
    try:
        drawing.extraction = await extract(read, ask, run, fail_fast=config.conversation.fail_fast)
    finally:
        drawing.warnings += ask.warnings
    drawing.warnings += drawing.extraction.warnings
    return drawing.extraction, shown


async def _last_cut(engine: Engine, conversation: str, messages: Sequence[Message]) -> Sequence[Message]:
    """Return as many of the last messages as the model can take at once."""
    config = engine.resolved.config.conversation.model_copy(update={"strategy": "sliding_window"})
    made = await asyncio.to_thread(
        chunk_conversation,
        messages,
        conversation_id=conversation,
        model=engine.client.name,
        config=config,
        frame_tokens=FRAME_TOKENS,
    )
    last = made.cuts[-1]
    return () if last.split is not None else messages[last.first : last.last + 1]


async def _divided(
    engine: Engine, conversation: str, messages: Sequence[Message], drawing: ExtractionRun, run: Run
) -> CutConversation:
    """Cut by the memory's embedder if the strategy compares meanings; by words if there is none or it cannot be reached."""
    meaning = _Meaning(engine, run, asyncio.get_running_loop())
    for embed in (*((meaning.embed,) if not engine.embedder.lexical else ()), None):
        made = await asyncio.to_thread(
            chunk_conversation,
            messages,
            conversation_id=conversation,
            model=engine.client.name,
            embed=embed,
            config=engine.resolved.config.conversation,
            frame_tokens=FRAME_TOKENS,
        )
        if meaning.failed is None:
            break
        if embed is not None:
            drawing.warnings.append(BY_WORDS.format(problem=meaning.failed))
            run.emit(Warned("cutting", drawing.warnings[-1]))
            meaning.failed = None
    return made


@dataclass
class _Meaning:
    """Embedder as a cutting strategy calls it, from the thread that cuts. failed: why it could not be reached."""

    engine: Engine
    run: Run
    loop: asyncio.AbstractEventLoop
    failed: MemoirError | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (n, dim); a blank text gets zeros."""
        said = [text[:EMBEDDED_CHARS] for text in texts if text.strip()]
        if not said:
            return np.zeros((len(texts), self.engine.embedder.dim or 1), np.float32)
        try:
            found = asyncio.run_coroutine_threadsafe(self.engine.embedder.embed(said, self.run), self.loop).result()
        except MemoirError as failed:
            self.failed = failed
            raise
        rows = np.zeros((len(texts), found.shape[1]), np.float32)
        rows[[at for at, text in enumerate(texts) if text.strip()]] = found
        return rows


def with_times(messages: Sequence[Message], run: Run, drawing: ExtractionRun) -> tuple[Message, ...]:
    """Give messages without a time the time of now."""
    drawing.untimed = now = run.clock.now()
    return tuple(one if one.said_at is not None else replace(one, at=now) for one in messages)


def _cut(made: CutConversation) -> ConversationCut:
    return ConversationCut(
        conversation_id=made.conversation_id,
        strategy=made.strategy,
        messages=made.messages,
        tokens=made.tokens,
        max_tokens=made.limits.max_tokens,
        cuts=len(made.cuts),
        tokens_per_cut=tuple(cut.tokens for cut in made.cuts),
        overlap_tokens=made.overlap_tokens,
    )


def report_metrics(drawing: ExtractionRun, run: Run) -> None:
    """Emit the measurements, and log them (CHUNK 8.5, 11, 12.4)."""
    found = drawing.metrics(run.clock.tick_ms())
    told = {name: getattr(found, name) for name in ExtractionMeasured.__dataclass_fields__ if hasattr(found, name)}
    told_of = ExtractionMeasured(**told, conversation_id=drawing.conversation, facts_per_cut=found.memories_per_cut)
    run.emit(told_of)
    merged = {"drawn": found.drawn, "duplicates_merged": found.duplicates_merged}
    _log.info("facts drawn from %s: %s", drawing.conversation, {**told_of.body(), **merged})
    for failure in drawing.extraction.failures if drawing.extraction else ():
        _log.warning(
            "cut %s (%s of %s) of %s failed: %s",
            failure.cut_id,
            failure.number,
            failure.of,
            drawing.conversation,
            failure.message,
        )
