"""An encoder of JSON that is made once: Python's own makes its part in C anew for every value, longer than a short value takes.

Invariant: joined, this is what `json.JSONEncoder(ensure_ascii=False, check_circular=False).encode` writes with the same options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from json import JSONEncoder
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]  # typeshed knows only the class
from typing import Any


def encoding(
    *,
    sort_keys: bool = False,
    separators: tuple[str, str] = (", ", ": "),
    allow_nan: bool = True,
    default: Callable[[Any], Any] | None = None,
) -> Callable[[Any, Any], Iterable[str]]:
    """Return the function that writes a value in pieces; it also takes a 0. default: makes a value of JSON from any other."""
    made = JSONEncoder(ensure_ascii=False, sort_keys=sort_keys, separators=separators, allow_nan=allow_nan, default=default)
    if c_make_encoder is None:
        return made.iterencode
    between, colon = separators
    made_in_c: Callable[[Any, Any], Iterable[str]] = c_make_encoder(
        None, made.default, encode_basestring, None, colon, between, sort_keys, False, allow_nan
    )
    return made_in_c
