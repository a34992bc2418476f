"""A small server that speaks OpenAI's HTTP: chat completions, responses, embeddings, models.

    with FakeOpenAI() as server:            # or the fixture `fake_openai` of your folder's conftest: yield from serving()
        server.say({"word": "memoir"})      # the next answer: a dict (sent as JSON), a str (sent as it is), or one of
        server.say(Called((("a_tool", {"x": 1}),)))     # calls tools; a request with stream=true gets its answer as events
        server.say(Text("…", finish="length"), Refuse("no"), Status(429, retry_after="1"), Drop(), Broken(), Html())
        server.say(Torn("Good "))               # a stream that breaks off after these words
        server.say(Held(gate, {"word": "x"}))   # answers when the threading.Event `gate` is set
        server.otherwise(lambda seen: {...})    # what to answer when nothing is queued; default: Status(500)
        server.otherwise(offline)               # the offline model's own tasks, over the wire
        server.say_vectors(Status(503), Vectors([[1.0, 0.0]]))  # the next answers to embeddings; else vectors by their text
        ... base URL: server.url ...
        server.seen[0].body, .path, .headers, .authorization

Invariant: every request is noted before it is answered, and `most_in_flight` counts those not yet answered. Answers leave
the queue in the order in which requests arrive. Nothing sleeps; delays are gates that a test opens.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai_bodies import (
    Called,
    Refuse,
    Text,
    Torn,
    Vectors,
    chat,
    embeddings,
    responses,
    streamed,
    text_of,
    torn,
    vectors_body,
)

GATE_TIMEOUT_S = 150  # a gate that nobody opens ends the request, so that a broken test ends too


@dataclass(frozen=True)
class Seen:
    """Request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def authorization(self) -> str:
        return self.headers.get("authorization", "")

    @property
    def mode(self) -> str:
        """Return how JSON was requested: native, tool or prompted."""
        asked = self.body.get("response_format") or self.body.get("text", {}).get("format") or {}
        if asked.get("type") == "json_schema":
            return "native"
        return "tool" if self.body.get("tools") else "prompted"

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema requested, wherever the mode puts it."""
        if self.mode == "native":
            asked = self.body.get("response_format", {}).get("json_schema") or self.body["text"]["format"]
            return dict(asked["schema"])
        if self.mode == "tool":
            tool = self.body["tools"][0]
            return dict(tool.get("function", tool)["parameters"])
        start = self.instructions.find('{"', self.instructions.find("JSON"))
        return dict(json.JSONDecoder().raw_decode(self.instructions, start)[0]) if start >= 0 else {}

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Return (role, text) of every message, instructions of the responses API first."""
        listed = self.body.get("messages", self.body.get("input", []))
        turns = [("system", self.body["instructions"])] if self.body.get("instructions") else []
        return turns + [(m.get("role", m.get("type", "")), text_of(m.get("content", ""))) for m in listed]

    @property
    def instructions(self) -> str:
        return "\n".join(text for role, text in self.turns if role in ("system", "developer"))

    @property
    def user_text(self) -> str:
        return next((text for role, text in self.turns if role == "user"), "")


@dataclass(frozen=True)
class Status:
    """Error answer in OpenAI's form."""

    status: int
    message: str = "scripted failure"
    code: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Drop:
    """Closes the connection without an answer."""


@dataclass(frozen=True)
class Half:
    """Sends the head and half of the body, then nothing until `gate` opens: a half-dead connection."""

    gate: threading.Event


@dataclass(frozen=True)
class Html:
    """Sends a proxy's page instead of JSON."""

    page: str = "<html><body>Sign in first</body></html>"


@dataclass(frozen=True)
class Broken:
    """Sends an invalid body as JSON."""


@dataclass(frozen=True)
class Body:
    """Sends this body as it is, with status 200."""

    content: dict[str, Any]


@dataclass(frozen=True)
class Held:
    gate: threading.Event
    then: Any


Answer = Text | Torn | Refuse | Called | Status | Drop | Half | Html | Broken | Body | Held | dict[str, Any] | str
Script = Callable[[Seen], Answer]


def offline(seen: Seen) -> Answer:
    """Answer the request as the offline model would."""
    from memoir_offline.model import answer

    return answer(seen.instructions, seen.user_text, seen.schema)


@dataclass
class FakeOpenAI:
    models: tuple[str, ...] = ("local-model", "gpt-4o-mini")
    seen: list[Seen] = field(default_factory=list)
    most_in_flight: int = 0
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._queue: deque[Answer] = deque()
        self._vectors: deque[Answer | Vectors] = deque()
        self._script: Script = lambda _: Status(500, "nothing scripted")
        self._in_flight = 0
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.host}/v1"

    def say(self, *answers: Answer) -> None:
        self._queue.extend(answers)

    def say_vectors(self, *answers: Answer | Vectors) -> None:
        self._vectors.extend(answers)

    def otherwise(self, script: Script) -> None:
        self._script = script

    def wait_for(self, count: int) -> None:
        """Wait until this many requests have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.seen) >= count, GATE_TIMEOUT_S)

    def __enter__(self) -> FakeOpenAI:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, seen: Seen) -> Answer:
        with self.arrived:
            self.seen.append(seen)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            queued = self._queue.popleft() if self._queue else None
            self.arrived.notify_all()
        return self._script(seen) if queued is None else queued

    def take_vectors(self, seen: Seen) -> Answer | Vectors:
        with self.arrived:
            self.seen.append(seen)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            queued = self._vectors.popleft() if self._vectors else Vectors()
            self.arrived.notify_all()
        return queued

    def done(self) -> None:
        with self.arrived:
            self._in_flight -= 1


def serving() -> Iterator[FakeOpenAI]:
    """Serve as a fixture: `fake_openai = pytest.fixture(serving)`."""
    with FakeOpenAI() as server:
        yield server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    fake: FakeOpenAI

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up (time-outs, cancelled requests), which is part of the tests."""


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "fake"} for name in self.server.fake.models]
        self._send(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen = Seen(self.path, json.loads(raw), {name.lower(): value for name, value in self.headers.items()})
        fake = self.server.fake
        answer = fake.take_vectors(seen) if self.path.endswith("/embeddings") else fake.take(seen)
        try:
            if isinstance(answer, Held):
                answer.gate.wait(GATE_TIMEOUT_S)
                answer = answer.then
        finally:
            self.server.fake.done()
        return self._answer(seen, answer)

    def _answer(self, seen: Seen, answer: Answer) -> None:
        if isinstance(answer, Drop):
            self._hang_up()
        elif isinstance(answer, Half):
            self._half(answer)
        elif isinstance(answer, Torn):
            self._tear(torn(seen.body, answer).encode())
        elif isinstance(answer, Html):
            self._send(200, answer.page, kind="text/html")
        elif isinstance(answer, Body):
            self._send(200, answer.content)
        elif isinstance(answer, Broken):
            self._send(200, '{"id": "x", "choices": [')
        elif isinstance(answer, Status):
            self._fail(answer)
        elif isinstance(answer, Vectors):
            self._send(200, embeddings(seen.body) if answer.rows is None else vectors_body(seen.body, answer))
        else:
            whole = isinstance(answer, Text | Refuse | Called)
            reply = answer if whole else Text(answer if isinstance(answer, str) else json.dumps(answer))
            if seen.path.endswith("/responses"):
                self._send(200, responses(seen.body, reply))
            elif seen.body.get("stream"):
                self._send(200, streamed(chat(seen.body, reply)), kind="text/event-stream")
            else:
                self._send(200, chat(seen.body, reply))

    def _fail(self, answer: Status) -> None:
        error = {"message": answer.message, "type": "invalid_request_error", "param": None, "code": answer.code}
        headers = {"retry-after": answer.retry_after} if answer.retry_after else {}
        self._send(answer.status, {"error": error}, headers=headers)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _half(self, answer: Half) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"id": "half",')
        self.wfile.flush()
        answer.gate.wait(GATE_TIMEOUT_S)
        self.close_connection = True

    def _tear(self, payload: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(payload) + 1))
        self.end_headers()
        self.wfile.write(payload)
        self._hang_up()

    def _send(
        self, status: int, body: dict[str, Any] | str, *, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        payload = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(payload)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
