"""The HTTP door: `/api/v1/VERB` for every verb, as an ASGI application that needs no library.

Invariant: a request is served as the actor that its token names, looked up anew each time; without one nothing is read but the
description of the API and whether it is up. What is handed out is recorded first. Every answer is JSON (but for the metrics,
which are sums and not recorded), every refusal a code, a message and a remedy; a fault of our own goes to the log, and its text
to nobody else. A body is never read past its limit.
Source: docs/decisions/0122, 0125.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from memoir_engine.api import features
from memoir_engine.api.doors import http_metrics, http_status, http_table, openapi
from memoir_engine.api.doors.values import plain
from memoir_engine.api.sync import Memory
from memoir_engine.core.errors import (
    DoorFailed,
    MemoirError,
    MethodRefused,
    PathUnknown,
    RequestInvalid,
    RequestTooLarge,
    TokenRefused,
)

HEALTH, METRICS, DOCUMENT = "/api/health", "/api/metrics", f"{http_table.BASE}/openapi.json"
MIB = 1024 * 1024
AT_ONCE = 32  # requests that are worked on; the others wait
MOST_FIELDS = 1_000  # of a query string
SHOWN_CHARS = 200  # of a path
_FIXED = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True)
class HttpRequest:
    method: str
    path: str
    query: str
    token: str
    is_json: bool
    body: bytes = b""


@dataclass(frozen=True)
class HttpAnswer:
    """content: what becomes JSON, or bytes as they are."""

    status: int
    content: Any
    headers: tuple[tuple[bytes, bytes], ...] = ()
    kind: bytes = b"application/json"


class HttpApi:
    """The application. Where it stands beside others, it is given the paths below `/api`."""

    def __init__(self, memory: Callable[[], Memory]) -> None:
        self._memory = memory
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="memoir-http")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._pool, self._checked, read_request(scope))
            if isinstance(answer, HttpRequest):  # its body is wanted
                answer = await self._with_body(answer, scope, receive)
            await send_answer(answer, scope["method"] == "HEAD", send)

    async def _with_body(self, request: HttpRequest, scope: Scope, receive: Receive) -> HttpAnswer:
        loop = asyncio.get_running_loop()
        try:
            limit = await loop.run_in_executor(self._pool, self._limit)
            body = await read_body(scope, receive, limit)
        except MemoirError as refused:
            return refusal(refused)
        whole = HttpRequest(request.method, request.path, request.query, request.token, request.is_json, body)
        return await loop.run_in_executor(self._pool, self._answer, whole)

    def _limit(self) -> int:
        return self._memory().config.max_file_mb * 2 * MIB

    def _checked(self, request: HttpRequest) -> HttpAnswer | HttpRequest:
        """Answer what needs no body; return the request where its body is to be read, from whom a token lets in."""
        try:
            if request.path in (HEALTH, DOCUMENT):
                check_method(request, ("GET",))
                return HttpAnswer(200, {"status": "ok"} if request.path == HEALTH else openapi.document())
            if request.path == METRICS and self._memory().config.metrics:
                return self._metrics(request)
            row = verb_of(request)
            self._memory().acting_by(request.token)
            check_method(request, http_table.methods(row))
        except MemoirError as refused:
            return refusal(refused)
        except Exception:
            return fault()
        return request

    def _metrics(self, request: HttpRequest) -> HttpAnswer:
        view = self._memory().acting_by(request.token)
        check_method(request, ("GET",))
        text = http_metrics.exposition(features.metrics(view._engine, view.actor))
        return HttpAnswer(200, text.encode(), kind=http_metrics.CONTENT_TYPE)

    def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            row = verb_of(request)
            view = self._memory().acting_by(request.token)  # it may have been revoked while the body came in
            arguments = http_table.taken(row, read_arguments(request))
            result = row.call(view, arguments)
            run_id = features.record_handed_out(
                view._engine, view.actor, row.name, arguments, result, reads=row.reads, door="http"
            )
            return HttpAnswer(200, {"result": plain(result), "recorded_as": run_id})
        except MemoirError as refused:
            return refusal(refused)
        except Exception:
            return fault()


def http_api(memory: Memory | Callable[[], Memory]) -> HttpApi:
    """Return the HTTP API of a memory as an ASGI application, for any server of such. memory: open, or what opens it."""
    return HttpApi((lambda: memory) if isinstance(memory, Memory) else memory)


def refusal(refused: MemoirError) -> HttpAnswer:
    """Return an error as an answer."""
    headers = {
        TokenRefused: ((b"www-authenticate", b"Bearer"),),
        RequestTooLarge: ((b"connection", b"close"),),  # what is left of the body is not waited for
        MethodRefused: ((b"allow", str(refused.facts.get("allowed", "")).replace(" or ", ", ").encode()),),
    }
    told = {**plain(refused), "remedy": http_table.in_addresses(refused.remedy)}
    return HttpAnswer(http_status.status_of(refused), told, headers.get(type(refused), ()))


def fault() -> HttpAnswer:
    reference = secrets.token_hex(6)
    _log.exception("[mem] a request by HTTP failed (%s)", reference)
    return refusal(DoorFailed(reference=reference))


def read_request(scope: Scope) -> HttpRequest:
    headers = {bytes(name).lower(): bytes(value).decode("latin-1") for name, value in scope["headers"]}
    kind, _, secret = headers.get(b"authorization", "").partition(" ")
    token = secret.strip() if kind.lower() == "bearer" else ""
    is_json = headers.get(b"content-type", "application/json").partition(";")[0].strip().lower() == "application/json"
    query = bytes(scope.get("query_string", b"")).decode("latin-1")
    return HttpRequest(scope["method"], scope["path"], query, token, is_json)


def verb_of(request: HttpRequest) -> Any:
    base, _, name = request.path.rpartition("/")
    row = http_table.served().get(name) if base == http_table.BASE else None
    if row is None:
        raise PathUnknown(path=request.path[:SHOWN_CHARS])
    return row


def check_method(request: HttpRequest, allowed: tuple[str, ...]) -> None:
    if request.method not in allowed and (request.method != "HEAD" or "GET" not in allowed):
        shown = request.path[:SHOWN_CHARS]
        raise MethodRefused(path=shown, allowed=" or ".join(allowed), method=request.method[:SHOWN_CHARS])


def read_arguments(request: HttpRequest) -> dict[str, Any]:
    """Read the arguments of a request. Raises RequestInvalid, InvalidSetting."""
    try:
        if request.method != "POST":
            pairs = parse_qsl(request.query, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
            return http_table.read_query(verb_of(request), pairs)
        if request.query:
            raise ValueError("a POST takes its arguments in the body, not in the address")
        if request.body and not request.is_json:
            raise ValueError("its Content-Type is not application/json")
        return http_table.read_body(request.body)
    except RecursionError:
        raise RequestInvalid(problem="it is nested too deeply") from None
    except ValueError as wrong:
        problem = "it is not valid UTF-8" if isinstance(wrong, UnicodeError) else str(wrong)
        raise RequestInvalid(problem=problem[:1].lower() + problem[1:]) from None


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """Read a body. Raises RequestTooLarge as soon as it is known to be too large."""
    too_large = RequestTooLarge(limit_mb=limit // MIB)
    declared = next((bytes(value) for name, value in scope["headers"] if bytes(name).lower() == b"content-length"), b"0")
    if declared.isdigit() and int(declared[:20]) > limit:
        raise too_large
    parts: list[bytes] = []
    length, more = 0, True
    while more:
        message = await receive()
        part = message.get("body", b"")
        length += len(part)
        if length > limit:
            raise too_large
        parts.append(part)
        more = message["type"] == "http.request" and message.get("more_body", False)
    return b"".join(parts)


async def send_answer(answer: HttpAnswer, is_head: bool, send: Send) -> None:
    # a lone surrogate in a text is written as the escape that JSON has for it
    is_made = isinstance(answer.content, bytes)
    body = answer.content if is_made else json.dumps(answer.content, ensure_ascii=False).encode("utf-8", "backslashreplace")
    headers = [(b"content-type", answer.kind), *_FIXED, *answer.headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_head else body})
