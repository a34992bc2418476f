"""What a checkpoint writes anew, and that reading gives what was put, whatever was done to its lists."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memoir_engine.langgraph.values import SINGLES, Known, known_items, number_at, numbers, plan, series, sliced

Kept = dict[int, Any]


class Said:
    """An item that may be changed in place."""

    def __init__(self, text: str) -> None:
        self.text = text


def dumps(value: Any) -> tuple[str, bytes]:
    return "json", json.dumps(value.text if isinstance(value, Said) else value).encode()


class Line:
    """Checkpoints one after the other, as a store would number their values."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.stored: dict[str, dict[int, Any]] = {}
        self.known: Known | None = None
        self.written = 0

    def put(self, values: dict[str, Any], version: int, touched: frozenset[int] = frozenset()) -> dict[str, Any]:
        versions = dict.fromkeys(values, version)
        planned = plan(self.known, values, versions, set(values), dumps, touched=touched)
        firsts = {name: self.last.get(name, 0) + 1 for name in planned.fresh}
        for name, fresh in planned.fresh.items():
            self.last[name] = self.last.get(name, 0) + len(fresh)
            shelf = self.stored.setdefault(name, {})
            shelf |= {firsts[name] + at: json.loads(data) for at, (_, data) in enumerate(fresh)}
            self.written += len(fresh)
        held = planned.numbered(firsts)
        self.known = Known(versions, held, planned.objects, planned.digests, planned.places)
        return {channel: self._read(channel, one) for channel, one in held.items()}

    def _read(self, channel: str, one: Any) -> Any:
        if isinstance(one, int):
            return self.stored[SINGLES][one]
        return [self.stored[series(channel)][number] for number in numbers(one)]

    def forget_objects(self) -> None:
        """As after a restart: the same values are other objects."""
        assert self.known is not None
        copies = {channel: tuple(Said(one.text) for one in some) for channel, some in self.known.objects.items()}
        places = {channel: known_items(some) for channel, some in copies.items()}
        self.known = Known(self.known.versions, self.known.held, copies, self.known.digests, places)


def test_an_appended_message_is_all_that_is_written() -> None:
    line, messages = Line(), [Said(f"{number}") for number in range(50)]
    line.put({"messages": messages}, 1)
    before = line.written
    line.put({"messages": [*messages, Said("new")]}, 2)
    assert line.written - before == 1
    assert line.known is not None
    assert line.known.held["messages"] == [(1, 52)]


def test_a_window_that_moves_writes_only_what_came() -> None:
    line, messages = Line(), [Said(f"{number}") for number in range(50)]
    line.put({"messages": messages}, 1)
    before = line.written
    assert line.put({"messages": [*messages[10:], Said("new")]}, 2)["messages"] == [*map(str, range(10, 50)), "new"]
    assert line.written - before == 1


def test_what_was_said_before_a_restart_is_known_by_its_bytes() -> None:
    line, messages = Line(), [Said(f"{number}") for number in range(20)]
    line.put({"messages": messages}, 1)
    line.forget_objects()
    before = line.written
    line.put({"messages": [*messages, Said("new")]}, 2)
    assert line.written - before == 1


def test_a_message_changed_in_place_and_returned_is_written_anew() -> None:
    line, messages = Line(), [Said(f"{number}") for number in range(20)]
    line.put({"messages": messages}, 1)
    messages[3].text = "changed"
    read = line.put({"messages": list(messages)}, 2, frozenset({id(messages[3])}))
    assert read["messages"][3] == "changed"


def test_the_last_messages_are_looked_at_even_when_nobody_says_they_changed() -> None:
    line, messages = Line(), [Said(f"{number}") for number in range(20)]
    line.put({"messages": messages}, 1)
    messages[-1].text = "streamed further"
    assert line.put({"messages": list(messages)}, 2)["messages"][-1] == "streamed further"


def test_a_list_that_a_node_extends_in_place_is_not_taken_for_the_old_one() -> None:
    line, messages = Line(), [Said("one")]
    line.put({"messages": messages}, 1)
    messages.append(Said("two"))
    assert line.put({"messages": messages}, 2)["messages"] == ["one", "two"]


POOL = 12
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, POOL - 1)),
        st.tuples(st.just("drop"), st.integers(0, 20)),
        st.tuples(st.just("insert"), st.integers(0, 20)),
        st.tuples(st.just("turn"), st.just(0)),
        st.tuples(st.just("change"), st.integers(0, 20)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("clear"), st.just(0)),
    ),
    max_size=25,
)


@given(steps)
def test_whatever_is_done_to_a_list_it_reads_as_it_was_put(given_steps: list[tuple[str, int]]) -> None:
    pool = [Said(f"{number}") for number in range(POOL)]
    line, messages = Line(), [pool[0], Said("x")]
    for version, (step, number) in enumerate(given_steps):
        touched: frozenset[int] = frozenset()
        at = number % len(messages) if messages else 0
        if step == "add":
            messages = [*messages, pool[number]]
        elif step == "drop":
            messages = messages[:at] + messages[at + 1 :]
        elif step == "insert":
            messages = [*messages[:at], Said(f"new {number}"), *messages[at:]]
        elif step == "turn":
            messages = messages[::-1]
        elif step == "clear":
            messages = []
        elif step == "restart" and line.known is not None:
            line.forget_objects()
            messages = [Said(one.text) for one in messages]
        elif step == "change" and messages:
            messages[at].text += "!"
            touched = frozenset({id(messages[at])})
        read = line.put({"messages": messages, "count": version}, version, touched)
        assert read == {"messages": [one.text for one in messages], "count": version}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5)), max_size=5), st.integers(0, 30), st.integers(0, 30))
def test_spans_are_their_numbers(pairs: list[tuple[int, int]], start: int, end: int) -> None:
    spans = [(first, first + length) for first, length in pairs]
    assert numbers(sliced(spans, start, end)) == numbers(spans)[start : max(start, end)]
    assert [number_at(spans, place) for place in range(len(numbers(spans)))] == numbers(spans)
