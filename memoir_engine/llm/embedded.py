"""One request for vectors, measured and written down.

Invariant: every request that was begun has its row, also one that failed or was cancelled. The row holds the body that was
sent; of what came back it holds the count, the length and a digest, since the vectors themselves stand beside their texts.
Source: DESIGN §2.6; MEMOLLA §1.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from memoir_engine.config import MemoirConfig, Secrets
from memoir_engine.embedding import Vectors
from memoir_engine.errors import ModelError, ModelReplyInvalid
from memoir_engine.ledger import Attempt, ended
from memoir_engine.llm.prices import cost
from memoir_engine.llm.providers import Choice
from memoir_engine.llm.refusals import retry_after_s, translated
from memoir_engine.llm.rows import CHARS_PER_TOKEN
from memoir_engine.llm.wire import Exchange, exchange
from memoir_engine.run import Run

if TYPE_CHECKING:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.embeddings.result import EmbeddingResult

PURPOSE = "embed"
VERSION = "embed/1"


@dataclass(frozen=True)
class Embedded:
    """Vectors that stand in the ledger: (n, dim), rows of unit length."""

    vectors: Vectors


@dataclass
class _Clock:
    wire: Exchange
    started_at: datetime
    began_ms: float


@dataclass
class Embedding:
    """The attempts at one batch, counted together. dims: asked for, None leaves it to the model."""

    texts: Sequence[str]
    run: Run
    choice: Choice
    config: MemoirConfig
    secrets: Secrets
    dims: int | None
    _attempts: int = field(default=0)

    async def attempt(self, model: OpenAIEmbeddingModel) -> Embedded | tuple[ModelError, float]:
        """One request, one row. Returns the vectors, or our error with the seconds the server asked to wait."""
        self._attempts += 1
        clock = _Clock(Exchange(), self.run.clock.now(), self.run.clock.tick_ms())
        try:
            result = await self._request(model, clock.wire)
        except asyncio.CancelledError:
            # the request is out and may be billed: its row is written although nobody waits for it any more
            await asyncio.shield(self._failed(clock, "cancelled"))
            raise
        except Exception as error:  # translated once, here; unknown classes become ModelError with their name
            ours = translated(error, self.choice, self.config.timeout_s, self.secrets)
            await self._failed(clock, str(ours))
            return ours, retry_after_s(error) or 0.0
        return await self._read(result, clock)

    async def _request(self, model: OpenAIEmbeddingModel, wire: Exchange) -> EmbeddingResult:
        from pydantic_ai.embeddings.settings import EmbeddingSettings

        settings = EmbeddingSettings(dimensions=self.dims) if self.dims else EmbeddingSettings()
        token = exchange.set(wire)
        try:
            # the HTTP client's timeouts count silence; a server that drips would hold an attempt for ever
            async with asyncio.timeout(self.config.timeout_s):
                return await model.embed([_sendable(text) for text in self.texts], input_type="document", settings=settings)
        finally:
            exchange.reset(token)

    async def _read(self, result: EmbeddingResult, clock: _Clock) -> Embedded | tuple[ModelError, float]:
        latency_ms = self._elapsed_ms(clock)  # before the price is looked up, which loads litellm the first time
        sent = result.usage.input_tokens
        tokens = sent or sum(map(len, self.texts)) // CHARS_PER_TOKEN
        price = await asyncio.to_thread(cost, self.choice, tokens, 0)
        vectors, problem = _checked(result.embeddings, len(self.texts), clock.wire)
        wrong = ModelReplyInvalid(model=self.choice.named, problem=problem) if problem else None
        reply = clock.wire.received if vectors is None else _summary(vectors)
        error = str(wrong) if wrong else None
        await self._record(clock, error, price, reply, latency_ms, tokens=tokens, estimated=not sent)
        if vectors is None:
            return wrong or ModelReplyInvalid(model=self.choice.named, problem="no vectors"), 0.0
        return Embedded(vectors)

    async def _failed(self, clock: _Clock, error: str) -> None:
        """A request refused with a status is not billed; one that was lost may have been, so its cost is not known."""
        refused = clock.wire.status is not None and clock.wire.status >= 400
        free = refused or self.choice.provider in ("ollama", "lmstudio")
        await self._record(clock, error, 0.0 if free else None, clock.wire.received, self._elapsed_ms(clock))

    async def _record(
        self,
        clock: _Clock,
        error: str | None,
        price: float | None,
        reply: str | None,
        latency_ms: float,
        *,
        tokens: int = 0,
        estimated: bool = False,
    ) -> None:
        scrub = self.secrets.scrub
        row = Attempt(
            run_id=self.run.id,
            purpose=PURPOSE,
            prompt_version=VERSION,
            fingerprint=self._fingerprint(),
            model=self.choice.model,
            provider=self.choice.provider,
            output_mode="vectors",
            params=self._params(),
            attempt=self._attempts,
            started_at=clock.started_at,
            latency_ms=latency_ms,
            tokens_prompt=tokens,
            tokens_completion=0,
            tokens_estimated=estimated,
            cost=price,
            prompt=scrub(clock.wire.sent or ""),
            reply=None if reply is None else scrub(reply),
            error=None if error is None else scrub(error),
        )
        self.run.emit(ended(await self.run.ledger.record(row), row))

    def _params(self) -> dict[str, Any]:
        return {"texts": len(self.texts)} | ({"dimensions": self.dims} if self.dims else {})

    def _fingerprint(self) -> str:
        who = [VERSION, self.choice.provider, self.choice.model, self.choice.server, self.dims]
        exact = json.dumps([who, list(self.texts)], ensure_ascii=False)
        return hashlib.sha256(exact.encode("utf-8", "backslashreplace")).hexdigest()

    def _elapsed_ms(self, clock: _Clock) -> float:
        return round(self.run.clock.tick_ms() - clock.began_ms, 3)  # as exact as the ledger keeps it


def packed(batches: Sequence[Vectors], dim: int) -> Vectors:
    """(n, dim) of all batches in their order."""
    return np.concatenate(batches) if batches else np.zeros((0, dim), dtype=np.float32)


def _checked(embeddings: Sequence[Sequence[float]], count: int, wire: Exchange) -> tuple[Vectors | None, str]:
    """The vectors in the order of the texts, of unit length; or what is wrong with them."""
    try:
        return _ordered(embeddings, count, wire)
    except (AttributeError, TypeError, ValueError):  # the SDK hands on what a server calls a vector
        return None, "a vector is no list of numbers"


def _ordered(embeddings: Sequence[Sequence[float]], count: int, wire: Exchange) -> tuple[Vectors | None, str]:
    if len(embeddings) != count:
        return None, f"{len(embeddings)} vectors came back for {count} texts"
    if len({len(vector) for vector in embeddings}) != 1 or not len(embeddings[0]):
        return None, "its vectors are empty or of different lengths"
    order = _order(wire)
    if sorted(order) != list(range(count)):
        return None, "its vectors are not numbered as the texts are"
    vectors = np.empty((count, len(embeddings[0])), dtype=np.float64)
    vectors[order] = np.asarray(embeddings, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        return None, "a vector has no direction"
    return (vectors / lengths).astype(np.float32), ""


def _order(wire: Exchange) -> list[int]:
    """The number of the text each vector belongs to: the SDK hands them out as they came. Without numbers, as they came."""
    listed = json.loads(wire.received or "{}").get("data", [])
    return [int(item.get("index", at)) for at, item in enumerate(listed)]


def _summary(vectors: Vectors) -> str:
    digest = hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest()
    return json.dumps({"vectors": vectors.shape[0], "dimensions": vectors.shape[1], "sha256": digest})


def _sendable(text: str) -> str:
    """Half a surrogate pair cannot be sent as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
