"""The server of the HTTP door where no app runs: uvicorn, as `memoir serve` starts it."""

from __future__ import annotations

import socket

import uvicorn

from memoir_engine.api.doors.http_api import http_api
from memoir_engine.api.sync import Memory
from memoir_engine.core.errors import AddressUnusable


def listen(host: str, port: int) -> socket.socket:
    """Take the address, so that one in use is said before anything is promised. Raises AddressUnusable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as refused:
        problem = (refused.strerror or str(refused)).lower()
        raise AddressUnusable(host=host, port=port, problem=problem) from refused


def serve(memory: Memory, listening: socket.socket) -> None:
    """Serve programs that carry a token, at /api/v1 of the address taken, until it is stopped."""
    config = uvicorn.Config(http_api(memory), log_level="warning", access_log=False, lifespan="off", server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
