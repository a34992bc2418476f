"""The server of the HTTP door where no app runs: uvicorn, as `memoir serve` starts it."""

from __future__ import annotations

import socket

import uvicorn

from memoir_engine.api.doors.http_api import http_api
from memoir_engine.api.sync import Memory


def serve(memory: Memory, listening: socket.socket) -> None:
    """Serve programs that carry a token, at /api/v1 of the address taken, until it is stopped."""
    config = uvicorn.Config(http_api(memory), log_level="warning", access_log=False, lifespan="off", server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
