"""Memory that is free, given back to the system at the ends of long stages.

glibc keeps what was freed in the heap of the thread that asked for it, and other threads cannot use it there: after 10,000 chunks
it held 400 MB that nothing stood in. Other C libraries and systems have no such call; there this does nothing.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # musl has none
        return None


def give_back() -> None:
    """Give whole free pages back; some milliseconds for each 100 MB."""
    trim = _trim()
    if trim is not None:
        trim(0)
