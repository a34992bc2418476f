"""One request to a webhook: it was taken, or the reason why not, in words.

Invariant: a redirect is not followed, since what was signed for one address is not for another. Of what the receiver answers the
status and Retry-After are read, and no word of it is in the reason.
Source: Standard Webhooks, "Delivery"; docs/decisions/0136.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from memoir_engine.core.webhooks import NotTaken

ANSWER_S = 10.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None  # it is an answer like any other


_OPENER = urllib.request.build_opener(_NoRedirects)


def post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Post a body. Raises NotTaken unless the answer is 2xx."""
    sent = {"Content-Type": "application/json", "User-Agent": "Memoir", **headers}
    try:
        with _OPENER.open(urllib.request.Request(url, body, sent, method="POST"), timeout=ANSWER_S):
            return
    except urllib.error.HTTPError as refused:
        refused.close()
        is_gone, retry_after = refused.code == http.client.GONE, refused.headers.get("Retry-After")
        raise NotTaken(reason_of(refused.code), is_gone=is_gone, retry_after=retry_after) from None
    except (OSError, ValueError, http.client.HTTPException) as lost:
        raise NotTaken(_words(getattr(lost, "reason", lost))) from None


def reason_of(status: int) -> str:
    if status == http.client.GONE:
        return "it answered 410, which asks for no more"
    return f"it answered {status}, a redirect, which is not followed" if 300 <= status < 400 else f"it answered {status}"


def _words(reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return "it did not answer in time"
    if isinstance(reason, http.client.HTTPException):
        return "its answer is no HTTP"
    if isinstance(reason, ConnectionRefusedError):
        return "connection refused"
    return (getattr(reason, "strerror", None) or type(reason).__name__).lower()
