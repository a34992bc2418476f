"""JSON bodies of OpenAI's answers: chat completions, responses, embeddings.

Invariant: a body depends on nothing but the request and the scripted reply.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

ANSWER = "final_result"  # the tool that stands for a structured answer


@dataclass(frozen=True)
class Text:
    """Text reply. usage: (prompt, completion) tokens, None reports none. cached: of the prompt, from the provider's cache."""

    content: str
    finish: str = "stop"
    usage: tuple[int, int] | None = (11, 7)
    cached: int = 0


@dataclass(frozen=True)
class Torn:
    """Stream that breaks off after these words, without an end or a token count."""

    content: str


@dataclass(frozen=True)
class Refuse:
    reason: str


@dataclass(frozen=True)
class Called:
    """Reply that calls tools: (name, arguments)."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    content: str | None = None
    finish: str = "tool_calls"
    usage: tuple[int, int] | None = (11, 7)


def chat(asked: dict[str, Any], reply: Text | Refuse | Called) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    finish = "stop"
    if isinstance(reply, Refuse):
        message["refusal"] = reply.reason
    elif isinstance(reply, Called):
        message["content"], finish = reply.content, reply.finish
        message["tool_calls"] = [
            {
                "id": f"call-{len(asked['messages'])}-{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for at, (name, args) in enumerate(reply.calls)
        ]
    elif asked.get("tools") and asked["tools"][0]["function"]["name"] == ANSWER:
        call = {"name": asked["tools"][0]["function"]["name"], "arguments": reply.content}
        message["tool_calls"] = [{"id": "call-1", "type": "function", "function": call}]
        finish = "tool_calls" if reply.finish == "stop" else reply.finish
    else:
        message["content"], finish = reply.content, reply.finish
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": asked["model"]}
    return answer | {"choices": [choice]} | _usage(reply, "prompt_tokens", "completion_tokens")


def streamed(body: dict[str, Any]) -> str:
    """Encode a chat completion as server-sent events, word by word."""
    message, finish = body["choices"][0]["message"], body["choices"][0]["finish_reason"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*", message["content"] or "")]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(message.get("tool_calls", []))]
    head = {name: body[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    chunks = [head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append(head | {"choices": [], "usage": body.get("usage")})
    return _events(chunks) + "data: [DONE]\n\n"


def torn(asked: dict[str, Any], reply: Torn) -> str:
    """Return what is sent before it breaks off."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": asked["model"]}
    deltas = [{"role": "assistant", "content": word} for word in re.findall(r"\S+\s*", reply.content)]
    return _events([head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas])


def _events(chunks: list[dict[str, Any]]) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)


def responses(asked: dict[str, Any], reply: Text | Refuse) -> dict[str, Any]:
    cut = isinstance(reply, Text) and reply.finish == "length"
    if isinstance(reply, Refuse):
        item = _output_message({"type": "refusal", "refusal": reply.reason})
    elif asked.get("tools"):
        called = {"name": asked["tools"][0]["name"], "arguments": reply.content, "status": "completed"}
        item = {"type": "function_call", "id": "fc-1", "call_id": "call-1", **called}
    else:
        item = _output_message({"type": "output_text", "text": reply.content, "annotations": []})
    answer = {
        "id": "resp-1",
        "object": "response",
        "created_at": 1700000000,
        "model": asked["model"],
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [item],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "instructions": None,
        "metadata": {},
        "temperature": 0,
        "top_p": 1,
    }
    return answer | _usage(reply, "input_tokens", "output_tokens")


def _output_message(content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": "msg-1", "role": "assistant", "status": "completed", "content": [content]}


def _usage(reply: Text | Refuse, sent: str, received: str) -> dict[str, Any]:
    counts = reply.usage if isinstance(reply, Text) else (5, 0)
    if counts is None:
        return {}
    cached = reply.cached if isinstance(reply, Text) else 0
    detail: dict[str, Any] = {"prompt_tokens_details": {"cached_tokens": cached}} if cached else {}
    if sent == "input_tokens":
        detail = {"input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {"usage": {sent: counts[0], received: counts[1], "total_tokens": sum(counts), **detail}}


@dataclass(frozen=True)
class Vectors:
    """Answer to embeddings; rows None: derived from the texts. order: the indexes under which rows are sent."""

    rows: list[list[float]] | None = None
    order: tuple[int, ...] | None = None
    usage: bool = True


def vectors_body(body: dict[str, Any], answer: Vectors) -> dict[str, Any]:
    rows = answer.rows or []
    numbered = zip(answer.order or range(len(rows)), rows, strict=True)
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in numbered]
    usage = {"usage": {"prompt_tokens": 9, "total_tokens": 9}} if answer.usage else {}
    return {"object": "list", "data": data, "model": body["model"], **usage}


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Derive vectors from the texts alone; equal texts get equal vectors."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    dims = body.get("dimensions", 8)
    data = [{"object": "embedding", "index": n, "embedding": _vector(text, dims)} for n, text in enumerate(texts)]
    tokens = sum(len(text) // 4 for text in texts)
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def _vector(text: str, dims: int) -> list[float]:
    digest = hashlib.shake_128(text.encode()).digest(dims)
    return [byte / 127.5 - 1 for byte in digest]


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])
