"""A reply as it is produced: its words one after the other, a way to stop it, and the whole at the end.

Invariant: it begins when it is first iterated over, or asked for its reply; whoever leaves the iteration before its end stops it.
Source: SESSION 4; DESIGN §7.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

from memoir_engine.core.errors import QueryCancelled
from memoir_engine.core.results import Reply

Wait = Callable[[], Reply]
Begin = Callable[[Callable[[str], None]], tuple[Wait, Callable[[], None]]]


class Replying:
    """Iterate over its words; `reply` waits for the whole. Raises what the turn raised, QueryCancelled when it was stopped."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._lock = threading.Lock()
        self._pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], None] = lambda: None
        self._outcome: Reply | BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        return self.pieces()

    def pieces(self, every_s: float | None = None) -> Iterator[str]:
        """Its words; an empty one every so often while none come, for who must look elsewhere meanwhile."""
        self._start()
        try:
            while (piece := self._next(every_s)) is not None:
                yield piece
        finally:
            if self._outcome is None:
                self.stop()
        if isinstance(self._outcome, BaseException):
            raise self._outcome

    @property
    def reply(self) -> Reply:
        thread = self._start()
        thread.join()
        if isinstance(self._outcome, Reply):
            return self._outcome
        raise self._outcome or QueryCancelled()

    def stop(self) -> None:
        """The model is asked nothing more; what it has said so far is kept in the session."""
        self._stop()

    def _next(self, every_s: float | None) -> str | None:
        try:
            return self._pieces.get(timeout=every_s)
        except queue.Empty:
            return ""

    def _start(self) -> threading.Thread:
        with self._lock:
            if self._thread is None:
                wait, self._stop = self._begin(self._pieces.put)
                self._thread = threading.Thread(target=self._run, args=(wait,), name="memoir-reply", daemon=True)
                self._thread.start()
            return self._thread

    def _run(self, wait: Wait) -> None:
        try:
            self._outcome = wait()
        except CancelledError:
            self._outcome = QueryCancelled()
        except BaseException as error:  # told to whoever iterates
            self._outcome = error
        finally:
            self._pieces.put(None)
