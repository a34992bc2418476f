"""A script in the page that Streamlit serves, so that keys pressed before anything is drawn are kept.

Invariant: one script, our own and allowed by its hash in the security policy; every other response passes as it is.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.components.scripts import read

SCRIPT = read("first_keys.js")
_PLACE = b'<div id="root">'  # where Streamlit draws; its own scripts run behind it
_NOT_ASKED = (b"accept-encoding", b"if-none-match", b"if-modified-since")  # so that the page comes whole and plain


class FirstKeys:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        plain = [(name, value) for name, value in scope["headers"] if name not in _NOT_ASKED]
        await self.app({**scope, "headers": plain}, receive, _with_script(send))


def _with_script(send: Send) -> Send:
    """Return a `send` that holds a page back until it is whole, and sends it with the script."""
    start: list[Message] = []
    parts: list[bytes] = []

    async def send_page(message: Message) -> None:
        if message["type"] == "http.response.start" and Headers(raw=message["headers"]).get("content-type", "").startswith(
            "text/html"
        ):
            start.append(message)
        elif message["type"] != "http.response.body" or not start:
            await send(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                page = b"".join(parts).replace(_PLACE, b"<script>" + SCRIPT.encode() + b"</script>" + _PLACE, 1)
                MutableHeaders(raw=start[0]["headers"])["Content-Length"] = str(len(page))
                await send(start[0])
                await send({"type": "http.response.body", "body": page})

    return send_page
