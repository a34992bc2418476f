"""Translate pydantic-ai's exceptions into ours, in one place.

Invariant: a provider's text enters a message only scrubbed of keys and cut to a line.
Source: DESIGN §11; `verified` error table of pydantic-ai 2.68 (each row run against a fake server in tests/llm).
"""

from __future__ import annotations

from memoir_engine.core.config import Secrets
from memoir_engine.core.errors import (
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelNotFound,
    ModelQuotaSpent,
    ModelRefusedKey,
    ModelRejectedRequest,
    ModelReplyInvalid,
    ModelServerFailed,
    ModelTimedOut,
    ModelUnreachable,
)
from memoir_engine.models.providers import Choice

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
