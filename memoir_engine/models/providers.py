"""Cost of a call, from litellm's bundled price list; the one door to litellm.

Invariants: never a guess; a model the list does not know costs None, shown as unknown in the product. Every use of litellm goes
through here, because its switches only work before the first import or call.
Prices are those of the list's release, without discounts for cached prompts: an upper bound.
Source: MEMOIR 9 (responses), DESIGN §1; measured with litellm 1.83.0: importing it fetches a price list, counting for a model
named llama-3 downloads a tokenizer (23 s without a network), and in its development mode it loads ./.env into the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from memoir_engine.core.config import MemoirConfig, Secrets
from memoir_engine.core.errors import (
    ContextTooLong,
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

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model


# === providers: Which model answers, and how it is reached.
#
# Invariant: `choose` is pure and decides everything; `build` only follows it. A model the user named is never replaced by
# another, and a key goes only to the provider it belongs to.
# Source: spec README 14; MEMOLLA §1; MEMOIR 1.4.


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
_CLOUD: dict[str, tuple[str, str]] = {  # the variable of the key, the package of its SDK; the extra has the prefix's name
    "anthropic": ("ANTHROPIC_API_KEY", "anthropic"),
    "google": ("GOOGLE_API_KEY", "google.genai"),
    "xai": ("XAI_API_KEY", "xai_sdk"),
}
_TITLES = {"anthropic": "Anthropic", "google": "Google Gemini", "xai": "xAI Grok"}


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
        return _bare(self.base_url) if self.base_url else self.provider


def choose(config: MemoirConfig, secrets: Secrets) -> Choice:
    """Raises ModelNotNamed, KeyMissing, or InvalidSetting when a bare name has no server."""
    named = config.model or _unnamed(secrets)
    prefix, _, rest = named.partition(":")
    if named == OFFLINE:
        return Choice(OFFLINE, "offline", "offline", named=named)
    if prefix in _LOCAL and rest:
        return _local(prefix, rest, named, secrets)
    if prefix in _CLOUD and rest:
        return _cloud(prefix, rest, named, secrets)
    if prefix in ("openai", "openai-chat", "openai-responses") and rest:
        return _openai(rest, named, secrets, prefix.removeprefix("openai").lstrip("-"))
    if _OPENAI_NAME.match(named):
        return _openai(named, named, secrets)
    return _by_server(named, secrets)


def require_installed(choice: Choice) -> None:
    """Raises ProviderMissing naming the extra; imports nothing heavy."""
    if choice.provider not in _CLOUD:
        return
    package = _CLOUD[choice.provider][1]
    try:
        found = find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        found = False
    if not found:
        title = _TITLES[choice.provider]
        raise ProviderMissing(model=choice.named, provider=title, extra=choice.provider)


def build(choice: Choice, secrets: Secrets, client: AsyncClient | None) -> Model:
    """The pydantic-ai model. `client` carries its HTTP, so that what goes out can be recorded. Imports only what it needs."""
    require_installed(choice)
    if choice.provider == "offline":
        return MODELS.get(OFFLINE)()
    key = secrets.get(choice.key) if choice.key else None
    if choice.provider in _CLOUD:
        return _build_cloud(choice, key or "", client)
    return _build_openai(choice, key or "none-needed", client)


def _unnamed(secrets: Secrets) -> str:
    for variable, _ in _SERVERS:
        if secrets.get(variable):
            raise ModelNotNamed(origin=variable)
    return OPENAI_DEFAULT if secrets.get("OPENAI_API_KEY") else OFFLINE


def _local(prefix: str, model: str, named: str, secrets: Secrets) -> Choice:
    variable, usual = _LOCAL[prefix]
    provider: Provider = "ollama" if prefix == "ollama" else "lmstudio"
    return Choice(model, provider, "chat", _rooted(secrets.get(variable) or usual), named=named)


def _cloud(prefix: str, model: str, named: str, secrets: Secrets) -> Choice:
    variable, _ = _CLOUD[prefix]
    if not secrets.get(variable):
        raise KeyMissing(model=named, variable=variable)
    return Choice(model, next(p for p in get_args(Provider) if p == prefix), "own", key=variable, named=named)


def _openai(model: str, named: str, secrets: Secrets, api: str = "") -> Choice:
    """A base URL stands for a proxy of OpenAI, as in its SDK; most of them speak chat completions only."""
    url = secrets.get("OPENAI_BASE_URL")
    if not secrets.get("OPENAI_API_KEY") and not url:
        raise KeyMissing(model=named, variable="OPENAI_API_KEY")
    spoken: Api = "chat" if api == "chat" or (url and api != "responses") else "responses"
    return Choice(model, "openai", spoken, _rooted(url) if url else None, "OPENAI_API_KEY", named)


def _by_server(named: str, secrets: Secrets) -> Choice:
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
    """With the /v1 that people leave out: a bare host never answers the OpenAI paths."""
    return url.rstrip("/") + "/v1" if urlsplit(url).path in ("", "/") else url.rstrip("/")


def _bare(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _build_openai(choice: Choice, key: str, client: AsyncClient | None) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

    if choice.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(choice.model, provider=OllamaProvider(choice.base_url, key, http_client=client))
    if choice.provider in ("lmstudio", "compatible"):
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        assert choice.base_url is not None
        server = OpenAICompatibleProvider(choice.provider, base_url=choice.base_url, api_key=key, http_client=client)
        return OpenAIChatModel(choice.model, provider=server)
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = OpenAIProvider(choice.base_url or "https://api.openai.com/v1", key, http_client=client)
    kind = OpenAIResponsesModel if choice.api == "responses" else OpenAIChatModel
    return kind(choice.model, provider=openai)


def _build_cloud(choice: Choice, key: str, client: AsyncClient | None) -> Model:
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(choice.model, provider=AnthropicProvider(api_key=key, http_client=client))
    if choice.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(choice.model, provider=GoogleProvider(api_key=key, http_client=client))
    from pydantic_ai.models.xai import XaiModel
    from pydantic_ai.providers.xai import XaiProvider

    return XaiModel(choice.model, provider=XaiProvider(api_key=key))


# === error_mapping: Translate pydantic-ai's exceptions into ours, in one place.
#
# Invariant: a provider's text enters a message only scrubbed of keys and cut to a line.
# Source: DESIGN §11; `verified` error table of pydantic-ai 2.68 (each row run against a fake server in tests/llm).


LINE_CHARS = 300


def translated(error: Exception, choice: Choice, timeout_s: float, secrets: Secrets) -> ModelError:
    """One of ours for anything a request may raise. Order matters: the narrow classes come first."""
    from pydantic_ai import exceptions as theirs

    model = choice.named
    said = one_line(secrets.scrub(_told(error)))
    if isinstance(error, TimeoutError | theirs.ModelTimeoutError | theirs.ModelRequestTimeout):
        return ModelTimedOut(model=model, timeout_s=timeout_s)
    if isinstance(error, theirs.ModelConnectionError):
        return ModelUnreachable(model=model, server=choice.server, problem=said)
    if isinstance(error, theirs.ModelAuthenticationError):
        return ModelRefusedKey(model=model)
    if isinstance(error, theirs.ModelNotFoundError):
        return ModelNotFound(model=model)
    if isinstance(error, theirs.ModelContextWindowExceededError):
        return ContextTooLong(model=model)
    if isinstance(error, theirs.ModelQuotaExceededError):
        return ModelQuotaSpent(model=model, problem=said)
    if isinstance(error, theirs.ModelRateLimitError | theirs.ModelUnavailableError):
        return ModelBusy(model=model, problem=said)
    if isinstance(error, theirs.ModelServerError):
        return ModelServerFailed(model=model, problem=said)
    if isinstance(error, theirs.ModelRequestRejectedError):
        return ModelRejectedRequest(model=model, problem=said)
    if isinstance(error, theirs.ModelHTTPError):
        return ModelServerFailed(model=model, problem=said) if error.status_code >= 500 else _refused(model, said)
    if isinstance(error, theirs.UnexpectedModelBehavior | theirs.ModelAPIError):
        return ModelReplyInvalid(model=model, problem=said)
    return ModelError(model=model, problem=f"{type(error).__name__}: {said}")


def retry_after_s(error: Exception) -> float | None:
    """Return the seconds that the provider asked us to wait."""
    wait = getattr(error, "retry_after", None)
    return float(wait) if isinstance(wait, int | float) else None


def one_line(text: str) -> str:
    """White space to single blanks, cut: a proxy's HTML page is no message."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LINE_CHARS else joined[: LINE_CHARS - 1] + "…"


def _refused(model: str, said: str) -> ModelError:
    return ModelRejectedRequest(model=model, problem=said)


def _told(error: Exception) -> str:
    """The provider's own sentence where there is one; else the exception's."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said.strip():
            return said
    return str(error) or type(error).__name__


# === price_list


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
