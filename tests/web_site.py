"""A server of web pages on loopback, for tests of what is fetched by its address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """A server of pages on loopback. pages: status, headers and body by path; seen: paths asked for, in order."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.seen: list[str] = []
        site = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.seen.append(self.path)
                status, headers, body = site.pages.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"

    def put(self, path: str, body: str | bytes = b"", status: int = 200, **headers: str) -> str:
        data = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = (status, {"Content-Type": "text/html; charset=utf-8"} | named, data)
        return f"http://{self.host}{path}"


@contextmanager
def serving() -> Iterator[Site]:
    made = Site()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()
