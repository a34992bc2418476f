"""The choice of a model, its server, its errors and its price.

Invariants: `choose` is pure and decides everything; `build` only follows it. A model the user named is never replaced by another,
and a key goes only to the provider it belongs to. A provider's text enters a message only scrubbed of keys and cut to a line.
A cost is never a guess: a model that litellm's bundled price list does not know costs None, shown as unknown in the product;
prices are those of the list's release, without discounts for cached prompts: an upper bound. Every use of litellm goes through
`quiet_litellm`, because its switches only work before the first import or call.
Source: spec README 14; MEMOLLA §1; MEMOIR 1.4, 9 (responses); DESIGN §1, §11; `verified` error table of pydantic-ai 2.68 (each
row run against a fake server in tests/llm); measured with litellm 1.83.0: importing it fetches a price list, counting for a model
named llama-3 downloads a tokenizer (23 s without a network), and in its development mode it loads ./.env into the process.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from memoir_engine.core.config import MemoirConfig, Secrets
from memoir_engine.core.errors import (
    ContextTooLong,
    CostCapReached,
    CostUnknown,
    InvalidSetting,
    KeyMissing,
    ModelBusy,
    ModelError,
    ModelNotFound,
    ModelNotNamed,
    ModelQuotaSpent,
    ModelRefusedKey,
    ModelRejectedRequest,
    ModelReplyInvalid,
    ModelServerFailed,
    ModelTimedOut,
    ModelUnreachable,
    ProviderMissing,
)
from memoir_engine.core.registry import Registry
from memoir_engine.core.run import Run

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model

Provider = Literal["offline", "openai", "anthropic", "google", "xai", "ollama", "lmstudio", "compatible"]
Api = Literal["offline", "chat", "responses", "own"]

OFFLINE = "offline"
MODELS: Registry[Callable[[], Model]] = Registry("model", {OFFLINE: "memoir_offline.model:OfflineModel"})
OPENAI_DEFAULT = "gpt-4o-mini"  # MEMOLLA §1: what a bare OPENAI_API_KEY means

# OpenAI's own names, fine-tuned ones included; gpt-oss, gpt-j and their like are run by others
_OPENAI_NAME = re.compile(
    r"^(ft:)?(gpt-\d|gpt-(audio|realtime|image|chat)|chatgpt-|o[1-9]($|-)|codex-|computer-use-|davinci-|babbage-)"
)
_SERVERS: tuple[tuple[str, Provider], ...] = (  # MEMOLLA §1's order
    ("OPENAI_BASE_URL", "compatible"),
    ("LMSTUDIO_BASE_URL", "lmstudio"),
    ("OLLAMA_BASE_URL", "ollama"),
)
_LOCAL: dict[str, tuple[str, str]] = {
    "ollama": ("OLLAMA_BASE_URL", "http://127.0.0.1:11434/v1"),
    "lmstudio": ("LMSTUDIO_BASE_URL", "http://127.0.0.1:1234/v1"),
}
_CLOUD: dict[str, tuple[str, str, str]] = {  # the variable of the key, the package of its SDK, its name for people
    "anthropic": ("ANTHROPIC_API_KEY", "anthropic", "Anthropic"),  # the extra has the prefix's name
    "google": ("GOOGLE_API_KEY", "google.genai", "Google Gemini"),
    "xai": ("XAI_API_KEY", "xai_sdk", "xAI Grok"),
}
_CLASSES: dict[str, tuple[str, str]] = {  # of pydantic-ai, loaded when a model is built: model and provider
    "anthropic": ("models.anthropic:AnthropicModel", "providers.anthropic:AnthropicProvider"),
    "google": ("models.google:GoogleModel", "providers.google:GoogleProvider"),
    "xai": ("models.xai:XaiModel", "providers.xai:XaiProvider"),
    "ollama": ("models.ollama:OllamaModel", "providers.ollama:OllamaProvider"),
    "lmstudio": ("models.openai:OpenAIChatModel", "providers.openai_compatible:OpenAICompatibleProvider"),
    "compatible": ("models.openai:OpenAIChatModel", "providers.openai_compatible:OpenAICompatibleProvider"),
    "openai": ("models.openai:OpenAIChatModel", "providers.openai:OpenAIProvider"),
}


@dataclass(frozen=True)
class Choice:
    """A model and the way to it. `key` is the variable whose value is sent, None where none is.

    named: as the user wrote it, for messages. base_url: None is the provider's own address.
    """

    model: str
    provider: Provider
    api: Api
    base_url: str | None = None
    key: str | None = None
    named: str = ""

    @property
    def server(self) -> str:
        """Address that requests go to, without credentials."""
        if not self.base_url:
            return self.provider
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def choose(config: MemoirConfig, secrets: Secrets) -> Choice:
    """Raises ModelNotNamed, KeyMissing, or InvalidSetting when a bare name has no server."""
    named = config.model or _unnamed_model(secrets)
    prefix, _, rest = named.partition(":")
    if named == OFFLINE:
        return Choice(OFFLINE, "offline", "offline", named=named)
    if prefix in _LOCAL and rest:
        variable, usual = _LOCAL[prefix]
        provider: Provider = "ollama" if prefix == "ollama" else "lmstudio"
        return Choice(rest, provider, "chat", _rooted(secrets.get(variable) or usual), named=named)
    if prefix in _CLOUD and rest:
        variable = _CLOUD[prefix][0]
        if not secrets.get(variable):
            raise KeyMissing(model=named, variable=variable)
        return Choice(rest, next(p for p in get_args(Provider) if p == prefix), "own", key=variable, named=named)
    if prefix in ("openai", "openai-chat", "openai-responses") and rest:
        return _openai_choice(rest, named, secrets, prefix.removeprefix("openai").lstrip("-"))
    if _OPENAI_NAME.match(named):
        return _openai_choice(named, named, secrets)
    return _choice_by_server(named, secrets)


def _unnamed_model(secrets: Secrets) -> str:
    for variable, _ in _SERVERS:
        if secrets.get(variable):
            raise ModelNotNamed(origin=variable)
    return OPENAI_DEFAULT if secrets.get("OPENAI_API_KEY") else OFFLINE


def _openai_choice(model: str, named: str, secrets: Secrets, api: str = "") -> Choice:
    """A base URL stands for a proxy of OpenAI, as in its SDK; most of them speak chat completions only."""
    url = secrets.get("OPENAI_BASE_URL")
    if not secrets.get("OPENAI_API_KEY") and not url:
        raise KeyMissing(model=named, variable="OPENAI_API_KEY")
    spoken: Api = "chat" if api == "chat" or (url and api != "responses") else "responses"
    return Choice(model, "openai", spoken, _rooted(url) if url else None, "OPENAI_API_KEY", named)


def _choice_by_server(named: str, secrets: Secrets) -> Choice:
    for variable, provider in _SERVERS:
        if url := secrets.get(variable):
            key = "OPENAI_API_KEY" if provider == "compatible" else None
            return Choice(named, provider, "chat", _rooted(url), key, named)
    raise InvalidSetting(
        name="model",
        value=named,
        problem="it names no provider, and no server is configured for it",
        advice="Write the provider before it, such as 'anthropic:…' or 'ollama:…', or set OPENAI_BASE_URL, "
        "LMSTUDIO_BASE_URL or OLLAMA_BASE_URL; model='offline' needs neither.",
    )


def _rooted(url: str) -> str:
    """Append /v1 to a bare server address, which never answers the OpenAI paths."""
    return url.rstrip("/") + "/v1" if urlsplit(url).path in ("", "/") else url.rstrip("/")


def require_installed(choice: Choice) -> None:
    """Raises ProviderMissing naming the extra; imports nothing heavy."""
    if choice.provider not in _CLOUD:
        return
    _, package, title = _CLOUD[choice.provider]
    try:
        is_installed = find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        is_installed = False
    if not is_installed:
        raise ProviderMissing(model=choice.named, provider=title, extra=choice.provider)


def build(choice: Choice, secrets: Secrets, client: AsyncClient | None) -> Model:
    """The pydantic-ai model. `client` carries its HTTP, so that what goes out can be recorded. Imports only what it needs."""
    require_installed(choice)
    if choice.provider == "offline":
        return MODELS.get(OFFLINE)()
    model, provider = (resolve_name(f"pydantic_ai.{name}") for name in _CLASSES[choice.provider])
    if choice.api == "responses":
        model = resolve_name("pydantic_ai.models.openai:OpenAIResponsesModel")
    key = secrets.get(choice.key) if choice.key else None
    arguments: dict[str, Any] = {} if choice.provider == "xai" else {"http_client": client}  # its SDK speaks no HTTP
    if choice.provider in _CLOUD:
        arguments["api_key"] = key or ""
    else:
        arguments |= {"api_key": key or "none-needed", "base_url": choice.base_url or "https://api.openai.com/v1"}
    if choice.provider in ("lmstudio", "compatible"):
        arguments["name"] = choice.provider
    built: Model = model(choice.model, provider=provider(**arguments))
    return built


LINE_CHARS = 300


def translated(error: Exception, choice: Choice, timeout_s: float, secrets: Secrets) -> ModelError:
    """One of ours for anything a request may raise. Order matters: the narrow classes come first."""
    from pydantic_ai import exceptions as theirs

    model = choice.named
    problem = one_line(secrets.scrub(_provider_message(error)))
    if isinstance(error, TimeoutError | theirs.ModelTimeoutError | theirs.ModelRequestTimeout):
        return ModelTimedOut(model=model, timeout_s=timeout_s)
    if isinstance(error, theirs.ModelConnectionError):
        return ModelUnreachable(model=model, server=choice.server, problem=problem)
    if isinstance(error, theirs.ModelAuthenticationError):
        return ModelRefusedKey(model=model)
    if isinstance(error, theirs.ModelNotFoundError):
        return ModelNotFound(model=model)
    if isinstance(error, theirs.ModelContextWindowExceededError):
        return ContextTooLong(model=model)
    if isinstance(error, theirs.ModelQuotaExceededError):
        return ModelQuotaSpent(model=model, problem=problem)
    if isinstance(error, theirs.ModelRateLimitError | theirs.ModelUnavailableError):
        return ModelBusy(model=model, problem=problem)
    if isinstance(error, theirs.ModelServerError):
        return ModelServerFailed(model=model, problem=problem)
    if isinstance(error, theirs.ModelRequestRejectedError):
        return ModelRejectedRequest(model=model, problem=problem)
    if isinstance(error, theirs.ModelHTTPError):
        return (ModelServerFailed if error.status_code >= 500 else ModelRejectedRequest)(model=model, problem=problem)
    if isinstance(error, theirs.UnexpectedModelBehavior | theirs.ModelAPIError):
        return ModelReplyInvalid(model=model, problem=problem)
    return ModelError(model=model, problem=f"{type(error).__name__}: {problem}")


def retry_after_s(error: Exception) -> float | None:
    """Return the seconds that the provider asked us to wait."""
    wait = getattr(error, "retry_after", None)
    return float(wait) if isinstance(wait, int | float) else None


def one_line(text: str) -> str:
    """White space to single blanks, cut: a proxy's HTML page is no message."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LINE_CHARS else joined[: LINE_CHARS - 1] + "…"


def _provider_message(error: Exception) -> str:
    """Return the provider's own sentence where there is one; else the exception's."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(message, str) and message.strip():
            return message
    return str(error) or type(error).__name__


@cache
def quiet_litellm() -> Any:
    """The module. The first call takes seconds; do it off the event loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    return litellm


_LIST_PREFIX = {"google": "gemini", "xai": "xai", "anthropic": "anthropic", "openai": "openai"}
_FREE = ("offline", "ollama", "lmstudio")
_asked: set[tuple[str, str]] = set()  # (provider, model) whose price was looked up
_SAMPLE_TOKENS = 1000  # below every tier of long contexts, far above rounding


def is_known(choice: Choice) -> bool:
    """Return True if `cost` answers at once, with nothing left to load for this model."""
    return choice.provider in _FREE or (choice.provider, choice.model) in _asked


def cost(choice: Choice, tokens_prompt: int, tokens_completion: int) -> float | None:
    """USD. Models run on one's own machine cost nothing. The first call for a model loads litellm: seconds."""
    if choice.provider in _FREE:
        return 0.0
    unit = _unit(choice.provider, choice.model)
    _asked.add((choice.provider, choice.model))
    return None if unit is None else unit[0] * tokens_prompt + unit[1] * tokens_completion


@lru_cache(maxsize=64)
def _unit(provider: str, model: str) -> tuple[float, float] | None:
    """USD per token, prompt and completion."""
    litellm = quiet_litellm()
    for name in (model, f"{_LIST_PREFIX.get(provider, provider)}/{model}"):
        try:
            sent, received = litellm.cost_per_token(model=name, prompt_tokens=_SAMPLE_TOKENS, completion_tokens=_SAMPLE_TOKENS)
        except Exception:  # litellm raises several classes, a bare one among them, for a name it does not know
            continue
        return sent / _SAMPLE_TOKENS, received / _SAMPLE_TOKENS
    return None


class CostCap:
    """The cap on what a run may cost, checked before a call is made: afterwards it is paid for. None caps nothing.

    What the run spent before it was resumed counts too, and so do calls in flight, each with what its prompt alone costs.
    """

    def __init__(self, cap: float | None) -> None:
        self._cap = cap
        self._in_flight: defaultdict[str, list[float]] = defaultdict(list)  # USD, by run

    async def prices(self, tokens: Callable[[], int], *models: tuple[str, Choice]) -> list[float]:
        """Return what a prompt costs at least with each named model, in USD. Raises CostUnknown for one without a known price."""

        def work() -> list[float]:
            count, prices = tokens(), list[float]()
            for name, choice in models:
                price = cost(choice, count, 0)
                if price is None:
                    raise CostUnknown(cap=self._cap, model=name)
                prices.append(price)
            return prices

        return [0.0] * len(models) if self._cap is None else await asyncio.to_thread(work)

    def check(self, run: Run, likely: float) -> None:
        """Raises CostCapReached if a call that likely costs so much (USD) may not be made."""
        spent = run.ledger.spent
        if self._cap is not None and (spent >= self._cap or spent + sum(self._in_flight.get(run.id, ())) + likely > self._cap):
            raise CostCapReached(spent=spent, likely=likely, cap=self._cap)

    @contextmanager
    def in_flight(self, run: Run, likely: float) -> Iterator[None]:
        """Count a call as in flight while it is made."""
        self._in_flight[run.id].append(likely)
        try:
            yield
        finally:
            self._in_flight[run.id].remove(likely)
            if not self._in_flight[run.id]:
                del self._in_flight[run.id]
