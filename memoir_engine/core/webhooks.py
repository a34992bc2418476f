"""Words between the sender of webhooks and its adapter. Source: docs/decisions/0136."""

from __future__ import annotations

from urllib.parse import urlsplit


class NotTaken(Exception):
    """A receiver did not take what was posted. reason: in words. is_gone: it asked for no more.

    retry_after: when it asked to be tried again, as it wrote that.
    """

    def __init__(self, reason: str, *, is_gone: bool = False, retry_after: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.is_gone, self.retry_after = reason, is_gone, retry_after


def shown_address(url: str) -> str:
    """Return an address as it may be shown: by its host alone, since many receivers put a secret into the path."""
    parts = urlsplit(url)
    has_more = parts.path.strip("/") or parts.query
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{'/…' if has_more else ''}"
