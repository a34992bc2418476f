"""Model server that answers at once or after a fixed delay: an OpenAI-compatible endpoint on loopback, in its own process.

It files a chunk by a digest of its text into one of eight categories of its level, or as many as asked for, chooses the first
options offered, and answers any question with the first chunk: nothing that takes time, so that what is measured is the engine.
New names stay as they are. Of a conversation each message is a fact, and none has to do with another.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.frame import ROOT

CATEGORIES = 8
MODEL = "stub"
_CHUNK = re.compile(r'^Chunk (\d+):\n"""\n(.*?)\n"""$', re.S | re.M)
_MESSAGE = re.compile(r'^Message (\d+) .*\n"""\n(.*?)\n"""$', re.M)
_NEW_FACTS = re.compile(r"^New facts: (\d+)", re.M)
_LEVEL = re.compile(r"^Level: (\d+)", re.M)


@contextmanager
def served(delay_s: float = 0.0, categories: int = CATEGORIES) -> Iterator[str]:
    """Yield the base URL of a stub that answers after `delay_s`."""
    command = [sys.executable, "-m", "benchmarks.stub", str(delay_s), str(categories)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def answer(body: dict[str, Any], categories: int = CATEGORIES) -> dict[str, Any]:
    """Return a reply that fits the requested schema."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    if "chunks" in fields:
        level = int(found[1]) if (found := _LEVEL.search(text)) else 1
        return {
            "chunks": [
                {"id": int(number), "category": _category(level, chunk, categories)} for number, chunk in _CHUNK.findall(text)
            ]
        }
    if "selections" in fields:
        return {"selections": _selections(text)}
    if "names" in fields:
        return {"names": [{"name": name, "stands_for_it": name} for name in _proposed(text)]}
    if "facts" in fields:
        return {"facts": [_fact(int(number), said) for number, said in _MESSAGE.findall(text)]}
    if "verdicts" in fields:
        return {"verdicts": [_beside(number) for number in range(1, int(_NEW_FACTS.findall(text)[-1]) + 1)]}
    if "relations" in fields:
        return {"relations": []}
    if "answer" in fields:
        return {"answer": "The first chunk says so. [1]"}
    return dict.fromkeys(fields, "unknown")


def _category(level: int, text: str, categories: int) -> str:
    return f"Subject {level}.{zlib.crc32(f'{level} {text}'.encode()) % categories}"


def _fact(message: int, said: str) -> dict[str, Any]:
    told = {"content": said, "type": "activity", "subject": "the user", "entities": [], "message": message, "quote": said}
    return told | {"confidence": 0.5, "valid_from": "", "valid_to": ""}


def _beside(number: int) -> dict[str, Any]:
    return {"new": number, "relation": "none", "known": [], "merged": "", "sure": True, "why": ""}


def _proposed(text: str) -> list[str]:
    """Settle new names: each stays, none is a duplicate."""
    rows = text.rpartition("\nNew names: ")[2].splitlines()[1:]
    return [str(json.loads(row[2:])["name"]) for row in rows if row.startswith("- {")]


def _selections(text: str) -> list[dict[str, Any]]:
    most = int(found[1]) if (found := re.search(r"^Select at most: (\d+)$", text, re.M)) else 1
    names = [json.loads(label) for label in re.findall(r'^- ".*" as (".*")$', text, re.M)][:most]
    return [{"category": name, "ranked_relevance": most - rank} for rank, name in enumerate(names)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two wait 40 ms for an acknowledgement
    delay_s = 0.0
    categories = CATEGORIES

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self._send(404, {"error": {"message": "no embeddings here"}})
            return
        time.sleep(self.delay_s)
        message = {"role": "assistant", "content": json.dumps(answer(body, self.categories))}
        reply = {
            "id": "stub",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        self._send(200, reply)

    def _send(self, status: int, reply: dict[str, Any]) -> None:
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    _Handler.delay_s, _Handler.categories = float(sys.argv[1]), int(sys.argv[2])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
