"""Errors of requests to a model (E4xx), translated at the border of the model adapter. Source: MEMOIR 7.4."""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class ModelError(MemoirError):
    """A request to a model failed. `model` names it; the ledger keeps each attempt."""

    code = "E400"
    message_form = "the model {model!r} failed: {problem}"
    remedy_form = "Look at the run's calls for what was sent and what came back."


class ModelUnreachable(ModelError):
    code = "E401"
    message_form = "the model {model!r} at {server} cannot be reached: {problem}"
    remedy_form = "Check that the server runs and its base URL is right; then try again, or choose model='offline'."
    retryable = True


class ModelRefusedKey(ModelError):
    code = "E402"
    message_form = "the provider of {model!r} refused the API key"
    remedy_form = "Check the key in .env or the environment; keys are read when Memory opens."


class ModelNotFound(ModelError):
    code = "E403"
    message_form = "the provider does not know the model {model!r}"
    remedy_form = "Check the name, and its provider prefix; the provider's own page lists its models."


class ModelRejectedRequest(ModelError):
    code = "E404"
    message_form = "the model {model!r} rejected the request: {problem}"
    remedy_form = "Try output_mode='tool' or 'prompted'; some servers take no JSON schema."


class ModelBusy(ModelError):
    code = "E405"
    message_form = "the model {model!r} is overloaded or its rate limit is reached: {problem}"
    remedy_form = "Wait and try again, or lower max_concurrency; answers already paid for are re-used."
    retryable = True


class ModelTimedOut(ModelError):
    code = "E406"
    message_form = "the model {model!r} did not answer within {timeout_s:g} s"
    remedy_form = "Raise timeout_s, or lower batch_size."
    retryable = True


class ModelReplyInvalid(ModelError):
    code = "E407"
    message_form = "the model {model!r} did not answer in the form asked for: {problem}"
    remedy_form = "Try another output_mode, or a model that follows JSON schemas; the ledger keeps the reply."
    retryable = True


class ModelReplyCut(ModelError):
    code = "E408"
    message_form = "the reply of {model!r} was cut off at its token limit"
    remedy_form = "Lower batch_size, or use a model with a larger output limit."


class ContextTooLong(ModelError):
    code = "E409"
    message_form = "the prompt is longer than the context of {model!r}"
    remedy_form = "Lower max_token_budget or batch_size, or use a model with a larger context."


class ModelServerFailed(ModelError):
    """The server answered with a failure of its own (5xx), retries included."""

    code = "E410"
    message_form = "the server of {model!r} failed: {problem}"
    remedy_form = "Try again later; if it lasts, look at the server's own log. Answers already paid for are re-used."
    retryable = True


class ModelQuotaSpent(ModelError):
    """Unlike ModelBusy, waiting does not help."""

    code = "E411"
    message_form = "the account for {model!r} has no quota left: {problem}"
    remedy_form = "Check plan and billing at the provider, or choose another model; answers already paid for are re-used."


# the model is not to be had: a fall-back answers, where one is configured (MEMOIR 7.4)
UNAVAILABLE = (ModelUnreachable, ModelBusy, ModelTimedOut, ModelServerFailed, ModelQuotaSpent)
FALLEN_BACK = "{name!r} answers for the rest of this run: {failed}"


class CostUnknown(ModelError):
    """A cap is set and what a call costs is not known: it is refused before it is made."""

    code = "E412"
    message_form = "max_cost = {cap} cannot be held: no price is known for {model!r}"
    remedy_form = "Nothing was asked. Choose a model with a known price for model and fallback_model, or unset max_cost."
