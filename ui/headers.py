"""Security headers on every response.

Invariant: a page can load and reach nothing but its own origin, so text that slips through as Markdown cannot call home.
'unsafe-inline' styles and 'unsafe-eval' are what Streamlit and its charts need; scripts of other origins stay out.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui import first_keys

_HOST = re.compile(r"[A-Za-z0-9.\-\[\]:]{1,255}")
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval' blob: {inline}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'{sockets} data: blob:; worker-src 'self' blob:; "
    "frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"
)
_FIXED = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def policy(host: str) -> str:
    """Return the Content-Security-Policy; sockets are allowed to `host` only, if it is a plain host name."""
    named = _HOST.fullmatch(host)
    return _POLICY.format(inline=inline_scripts(), sockets=f" ws://{host} wss://{host}" if named else "")


@cache
def inline_scripts() -> str:
    """Return the hashes of the scripts in Streamlit's own page and of ours in it, so that only these may run."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    scripts = [*re.findall(rb"<script>(.*?)</script>", page, re.DOTALL), first_keys.SCRIPT.encode()]
    digests = [hashlib.sha256(script).digest() for script in scripts]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        content_policy = policy(Headers(scope=scope).get("host", ""))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = content_policy
                for name, value in _FIXED.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers)
