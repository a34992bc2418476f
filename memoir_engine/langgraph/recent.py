"""The checkpoints that this process put or read last, and what nodes have just returned.

Invariant: forgetting costs speed, never a value. Safe for threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from memoir_engine.langgraph.values import Known

MOST = 64  # checkpoints, of all threads together
MOST_TOUCHED = 256  # objects of one thread

Place = tuple[str, str]


class Recent:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Place, str], Known] = OrderedDict()
        self._touched: OrderedDict[Place, dict[int, object]] = OrderedDict()

    def get(self, place: Place, name: str) -> Known | None:
        with self._lock:
            return self._known.get((place, name))

    def keep(self, place: Place, name: str, known: Known) -> None:
        with self._lock:
            self._known[place, name] = known
            self._known.move_to_end((place, name))
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def forget(self, thread_id: str) -> None:
        with self._lock:
            for key in [key for key in self._known if key[0][0] == thread_id]:
                del self._known[key]

    def touch(self, place: Place, values: Iterable[object]) -> None:
        """What nodes returned. The objects are held, so that their ids stay theirs."""
        items = [item for value in values for item in (value if isinstance(value, list) else [value])]
        with self._lock:
            held = self._touched.setdefault(place, {})
            self._touched.move_to_end(place)
            for item in items:
                held[id(item)] = item
            while len(held) > MOST_TOUCHED:
                del held[next(iter(held))]
            while len(self._touched) > MOST:
                self._touched.popitem(last=False)

    def touched(self, place: Place) -> frozenset[int]:
        """Since it was last asked."""
        with self._lock:
            return frozenset(self._touched.pop(place, ()))
