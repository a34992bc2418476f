"""Which form a conversation has, found out by what it holds, and what it says.

Pure. Source: SESSION 6.3, 6.4.
"""

from __future__ import annotations

import json

from memoir_engine.errors import FormatUnknown
from memoir_engine.sessions import told
from memoir_engine.sessions.told import Incoming


def read(data: object) -> Incoming:
    """data: text, or JSON parsed already. Raises FormatUnknown."""
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as wrong:
            raise FormatUnknown(problem=f"it is no JSON ({wrong})") from None
    if not told.is_ours(data):
        raise FormatUnknown(problem="it holds no list of messages")
    return told.read(data)
