"""The app's own addresses where the app is served below a path, as by `STREAMLIT_SERVER_BASE_URL_PATH=memory`.

Invariant: Streamlit puts its own addresses below the path by itself, and answers with a page for every other one there; so what
is ours is led to where it is known, and an unknown path of the API stays a 404 in JSON.
"""

from __future__ import annotations

import re

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send

_OWN = re.compile(r"/(?:api(?:/.*)?|cuts|overview)", re.DOTALL)


class BelowPrefix:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = str(st.get_option("server.baseUrlPath") or "").strip("/")
        if prefix and scope["type"] == "http":
            below = scope["path"].removeprefix(f"/{prefix}")
            if below != scope["path"] and _OWN.fullmatch(below):
                scope = {**scope, "path": below, "raw_path": below.encode()}
        await self.app(scope, receive, send)
