"""Vectors from a server that speaks OpenAI's embeddings, and the embedder that the settings ask for.

Invariant: a batch's vectors leave this module only after its ledger row is written; every request begun has its row. Without
a server named by the user, texts go nowhere that their owner's model is not already asked.
Source: MEMOLLA §1 (order of providers, 30 s, two retries, exponential back-off); spec README 14.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from memoir_engine.config import MemoirConfig, Secrets
from memoir_engine.embedding import EMBEDDERS, Embedder, Vectors
from memoir_engine.errors import (
    ConfigurationError,
    CostCapReached,
    CostUnknown,
    InvalidSetting,
    KeyMissing,
    ModelReplyInvalid,
)
from memoir_engine.llm import minilm as minilm  # registers itself in EMBEDDERS
from memoir_engine.llm import providers
from memoir_engine.llm.client import FIRST_WAIT_S, LONGEST_WAIT_S, Sleep
from memoir_engine.llm.embedded import Embedded, Embedding, packed
from memoir_engine.llm.offline.embedding import OfflineEmbedder
from memoir_engine.llm.plugged import plugged
from memoir_engine.llm.prices import cost
from memoir_engine.llm.providers import OFFLINE, Choice
from memoir_engine.llm.rows import CHARS_PER_TOKEN
from memoir_engine.llm.wire import recording_client
from memoir_engine.run import Run
from memoir_engine.text.hashed import DIM as OFFLINE_DIM

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

AUTO = "auto"
OPENAI_DEFAULT = "text-embedding-3-small"  # MEMOLLA §1
BATCH_TEXTS = 64  # of 512 characters: far below every server's limit, and little is lost with one that fails

_OPENAI_NAME = re.compile(r"^text-(embedding|similarity|search)-")
LEAST_USD = 1e-12  # of what is under way; below it stands what adding and taking away leaves of a fraction
_NATIVE_DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_WITHOUT = ("anthropic", "google", "xai")  # asked for answers only


@dataclass
class _Seat:
    """What belongs to one event loop: connections and locks cannot move between loops."""

    model: OpenAIEmbeddingModel
    http: AsyncClient
    gate: asyncio.Semaphore


@dataclass
class ServerEmbedder:
    """An embedder behind HTTP. Make it with `open_embedder`; one per memory."""

    config: MemoirConfig
    secrets: Secrets
    choice: Choice
    sleep: Sleep = asyncio.sleep
    _seats: WeakKeyDictionary[asyncio.AbstractEventLoop, _Seat] = field(default_factory=WeakKeyDictionary)
    _dim: int | None = None
    _in_flight: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))  # USD, by run

    def __post_init__(self) -> None:
        self._dim = self.config.embedder_dims or _NATIVE_DIMS.get(self.choice.model)

    @property
    def id(self) -> str:
        """With the length only where another than the model's own is asked for."""
        asked = self._asked_dims()
        return f"{self.choice.provider}:{self.choice.model}" + (f"@{asked}" if asked else "")

    @property
    def dim(self) -> int | None:
        return self._dim

    @property
    def lexical(self) -> bool:
        return False

    async def embed(self, texts: Sequence[str], run: Run) -> Vectors:
        """In batches, several at a time; the first failure ends the others."""
        batches = [texts[at : at + BATCH_TEXTS] for at in range(0, len(texts), BATCH_TEXTS)]
        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._batch(batch, run)) for batch in batches]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return packed([task.result() for task in asked], self._dim or 0)

    async def close(self) -> None:
        seat = self._seats.pop(asyncio.get_running_loop(), None)
        if seat is not None:
            await seat.http.aclose()

    async def _batch(self, texts: Sequence[str], run: Run) -> Vectors:
        """One batch, under the cap of its run: afterwards it would be paid for.

        Raises CostCapReached and CostUnknown, as a prompt does.
        """
        cap = self.config.max_cost
        if cap is None:
            return await self._asked(texts, run)
        likely = await asyncio.to_thread(cost, self.choice, sum(map(len, texts)) // CHARS_PER_TOKEN, 0)
        if likely is None:
            raise CostUnknown(cap=cap, model=self.choice.named)
        spent = run.ledger.spent
        if spent + self._in_flight.get(run.id, 0.0) + likely > cap:
            raise CostCapReached(spent=spent, likely=likely, cap=cap)
        self._in_flight[run.id] += likely
        try:
            return await self._asked(texts, run)
        finally:
            self._in_flight[run.id] -= likely
            if self._in_flight[run.id] < LEAST_USD:
                del self._in_flight[run.id]

    async def _asked(self, texts: Sequence[str], run: Run) -> Vectors:
        """Retried on passing failures."""
        seat = await self._seat()
        asking = Embedding(texts, run, self.choice, self.config, self.secrets, self._asked_dims())
        retries = 0
        while True:
            async with seat.gate:
                outcome = await asking.attempt(seat.model)
            if isinstance(outcome, Embedded):
                return await self._taken(outcome.vectors)
            error, wait_s = outcome
            passing = error.retryable and not isinstance(error, ModelReplyInvalid)
            if not passing or retries >= self.config.max_retries or wait_s > LONGEST_WAIT_S:
                raise error
            await self.sleep(max(wait_s, FIRST_WAIT_S * 2**retries))
            retries += 1

    async def _taken(self, vectors: Vectors) -> Vectors:
        """Vectors of two lengths are never mixed: a server that changes its model says so here."""
        got = int(vectors.shape[1])
        self._dim = self._dim or got
        if got != self._dim:
            problem = f"its vectors have {got} dimensions instead of {self._dim}; look at embedder_dims"
            raise ModelReplyInvalid(model=self.choice.named, problem=problem)
        return vectors

    def _asked_dims(self) -> int | None:
        """Sent only where it is not the model's own: some models refuse to be asked."""
        asked = self.config.embedder_dims
        return None if asked == _NATIVE_DIMS.get(self.choice.model) else asked

    async def _seat(self) -> _Seat:
        loop = asyncio.get_running_loop()
        if loop not in self._seats:
            await asyncio.to_thread(_import_all)  # seconds the first time; the loop only waits
        if loop not in self._seats:
            http = recording_client(self.config.timeout_s)
            model = _model(self.choice, self.secrets, http, self.config.timeout_s)
            self._seats[loop] = _Seat(model, http, asyncio.Semaphore(self.config.max_concurrency))
        return self._seats[loop]


def open_embedder(config: MemoirConfig, secrets: Secrets, *, sleep: Sleep = asyncio.sleep) -> Embedder:
    """The embedder that the setting names: `auto`, `offline`, one of EMBEDDERS, or `provider:model` as models are named.

    Contacts nobody. Raises InvalidSetting naming `embedder` or `embedder_dims`.
    """
    named = config.embedder or AUTO
    if named in EMBEDDERS and named not in (AUTO, OFFLINE):
        return plugged(named, EMBEDDERS.get(named)(config))
    choice = choose_embedding(config, secrets)
    if choice is None:
        _check_offline_dims(config)
        return OfflineEmbedder()
    return ServerEmbedder(config, secrets, choice, sleep)


def choose_embedding(config: MemoirConfig, secrets: Secrets) -> Choice | None:
    """Which server's model, None for the offline embedder. Pure."""
    named = config.embedder or AUTO
    if named == OFFLINE:
        return None
    if named == AUTO:
        return _at_hand(config, secrets)
    prefix, _, rest = named.partition(":")
    if prefix in _WITHOUT and rest:
        raise _refused(named, f"no embeddings are asked of {prefix} here")
    return _chosen(config, secrets, named)


def _at_hand(config: MemoirConfig, secrets: Secrets) -> Choice | None:
    """OpenAI's default where OpenAI itself answers; a server of one's own may have no embeddings at all."""
    try:
        model = providers.choose(config, secrets)
    except ConfigurationError:  # what is wrong with the model is said where the model is opened
        return None
    if model.provider != "openai" or model.base_url or model.key is None:
        return None
    return _chosen(config, secrets, OPENAI_DEFAULT)


def _chosen(config: MemoirConfig, secrets: Secrets, named: str) -> Choice:
    full = f"openai:{named}" if _OPENAI_NAME.match(named) else named
    try:
        return providers.choose(config.model_copy(update={"model": full}), secrets)
    except KeyMissing as missing:
        raise _refused(named, f"it needs an API key, and {missing.facts['variable']} is not set") from None
    except InvalidSetting as unknown:
        raise _refused(named, str(unknown.facts["problem"])) from None


def _refused(named: str, problem: str) -> InvalidSetting:
    known = ", ".join(repr(name) for name in EMBEDDERS)
    advice = (
        "Use 'offline', an OpenAI model with OPENAI_API_KEY, 'ollama:…' or 'lmstudio:…', or a model of the server that "
        "OPENAI_BASE_URL, LMSTUDIO_BASE_URL or OLLAMA_BASE_URL names"
    )
    plugged = f"; plug-ins: {known}." if known else "."
    return InvalidSetting(name="embedder", value=named, problem=problem, advice=advice + plugged)


def _check_offline_dims(config: MemoirConfig) -> None:
    """Only where it was asked for: `auto` without a key still has to open with TIMEM's EMBEDDING_MODEL_DIMS set."""
    if config.embedder == OFFLINE and config.embedder_dims not in (None, OFFLINE_DIM):
        raise InvalidSetting(
            name="embedder_dims",
            value=config.embedder_dims,
            problem=f"the offline embedder has {OFFLINE_DIM}",
            advice="Leave embedder_dims unset, or name an embedder that takes dimensions.",
        )


def _import_all() -> None:
    import pydantic_ai.embeddings.openai
    import pydantic_ai.providers.openai  # noqa: F401


def _model(choice: Choice, secrets: Secrets, client: AsyncClient, timeout_s: float) -> OpenAIEmbeddingModel:
    from openai import AsyncOpenAI
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = (secrets.get(choice.key) if choice.key else None) or "none-needed"
    url = choice.base_url or "https://api.openai.com/v1"
    openai = AsyncOpenAI(api_key=key, base_url=url, max_retries=0, timeout=timeout_s, http_client=client)
    return OpenAIEmbeddingModel(choice.model, provider=OpenAIProvider(openai_client=openai))
