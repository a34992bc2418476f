"""Errors of requests that come in by HTTP, before any verb is called (E76x)."""

from __future__ import annotations

from memoir_engine.core.errors.system import MemoirError


class DoorError(MemoirError):
    """A request that cannot be served as it was sent."""

    code = "E760"
    message_form = "the request cannot be served: {problem}"
    remedy_form = "GET /api/v1/openapi.json describes every request."


class PathUnknown(DoorError):
    code = "E761"
    message_form = "there is nothing at {path!r}"
    remedy_form = "GET /api/v1/openapi.json lists every path there is."


class MethodRefused(DoorError):
    code = "E762"
    message_form = "{path!r} takes {allowed}, not {method}"
    remedy_form = "Send it again as {allowed}."


class RequestTooLarge(DoorError):
    """The limit leaves room for a file of `max_file_mb`, written as base64 inside JSON."""

    code = "E763"
    message_form = "the request is larger than {limit_mb} MB"
    remedy_form = "Send less at once, or raise max_file_mb: a request may be twice as large."


class RequestInvalid(DoorError):
    code = "E764"
    message_form = "the request cannot be read: {problem}"
    remedy_form = "Send one JSON object whose fields are the arguments, with Content-Type: application/json."


class DoorFailed(DoorError):
    """A fault of Memoir itself: what went wrong is in the log of the server, and nowhere else."""

    code = "E765"
    message_form = "the request failed, and Memoir does not know why"
    remedy_form = "Try it again; the log of the server says more under {reference}."
    retryable = True


class AddressUnusable(DoorError):
    code = "E766"
    message_form = "cannot listen on {host}:{port}: {problem}"
    remedy_form = "Choose another with --port or --host, or stop what listens there."
