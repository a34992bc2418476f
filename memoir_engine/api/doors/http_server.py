"""The server of the HTTP door where no app runs: uvicorn, as `memoir serve` starts it."""

from __future__ import annotations

import uvicorn

from memoir_engine.api.doors.http_api import http_api
from memoir_engine.api.sync import Memory


def serve(memory: Memory, host: str, port: int) -> None:
    """Serve programs that carry a token, at http://host:port/api/v1, until it is stopped."""
    uvicorn.run(
        http_api(memory), host=host, port=port, log_level="warning", access_log=False, lifespan="off", server_header=False
    )
