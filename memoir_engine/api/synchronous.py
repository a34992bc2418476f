"""The one decorator that derives a verb for callers that wait from its coroutine.

Invariant: the derived verb has the coroutine's very parameters, types and docstring.
Source: DESIGN §7.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def waits(
    verb: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
    *,
    name: str | None = None,
    instead: Callable[..., T | None] | None = None,
) -> Callable[Concatenate[Any, P], T]:
    """Return the verb for callers that wait for it.

    name: what errors call it, if not by its own name.
    instead: answers in the caller's own thread, where nobody has to be waited for; None where it cannot.
    """

    @wraps(verb)
    def wait(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if instead is not None:
            verb(self, *args, **kwargs).close()  # a wrong argument is refused under the verb's own name
            answer = instead(self, *args, **kwargs)
            if answer is not None:
                return answer
        result: T = self._engine.loop.wait(verb(self, *args, **kwargs), verb=name or verb.__name__)
        return result

    return wait
