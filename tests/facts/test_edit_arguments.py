"""Arguments of what puts facts right by hand: dates and reasons, what a preview needs, and what a known fact does not take."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoir_engine import Memory
from memoir_engine.core import errors

MORE = {
    "type": "professional",
    "entities": ["Globex"],
    "valid_from": "2026-03",
    "valid_to": "2927",
    "agent_id": "support",
    "metadata": {"topic": "work"},
    "expires_at": "2928",
}


def test_what_is_said_of_a_known_fact_beyond_its_words_is_not_taken_and_the_action_says_so(memory: Memory) -> None:
    known = memory.facts.add("Works at Globex", "mia").fact_id or ""
    before = memory.facts.get(known)
    seen = memory.facts.preview("add", "works at Globex", "mia", **MORE)
    done = memory.facts.add("works at Globex", "mia", **MORE)  # type: ignore[arg-type]  # of several types
    after = memory.facts.get(known)
    assert (done.known, done.fact_id, after.origins[:1]) == (True, known, before.origins)
    assert (after.type, after.valid_from, after.metadata, after.agent_id) == ("miscellaneous", None, {}, None)
    assert (after.entities, after.valid_to, after.expires_at) == ((), None, None)
    assert done.not_taken == seen.not_taken == tuple(MORE)
    (warning,) = done.warnings
    assert (warning,) == seen.warnings
    assert warning == (
        "This is known already and stays as it is: type, entities, valid_from, valid_to, agent_id, metadata, expires_at "
        "not taken. "
        f"Use facts.correct({known!r}, type=…, entities=…, valid_from=…, valid_to=…, agent_id=…, metadata=…) "
        f"and facts.expire({known!r}, …)."
    )


@pytest.mark.parametrize(
    "again", [{}, MORE, {"valid_from": "2026-03", "expires_at": "2928"}], ids=["nothing", "all of it", "some of it"]
)
def test_where_a_known_fact_says_all_of_it_nothing_is_left_out(memory: Memory, again: dict[str, Any]) -> None:
    memory.facts.add("Works at Globex", "mia", **MORE)  # type: ignore[arg-type]  # of several types
    seen, done = (
        memory.facts.preview("add", "Works at Globex", "mia", **again),
        memory.facts.add("Works at Globex", "mia", **again),
    )
    assert (done.known, done.not_taken, done.warnings) == (True, (), ())
    assert (seen.not_taken, seen.warnings) == ((), ())


def test_who_noted_a_fact_and_what_was_noted_are_set_right_and_taken_away(memory: Memory) -> None:
    known = memory.facts.add("Works at Globex", "mia").fact_id or ""
    done = memory.facts.correct(known, agent_id="support", metadata={"topic": "work"})
    new = memory.facts.get(done.fact_id or "")
    assert (new.content, new.agent_id, new.metadata) == ("Works at Globex", "support", {"topic": "work"})
    emptied = memory.facts.correct(new.id, agent_id="", metadata={})
    bare = memory.facts.get(emptied.fact_id or "")
    assert (bare.agent_id, bare.metadata) == (None, {})
    memory.review.undo(emptied.action_id)
    assert (memory.facts.get(new.id).status, memory.audit.verify().ok) == ("active", True)


@pytest.mark.parametrize("at", ["2026-03-07", "20260307", "2026-W10-6"])
def test_a_date_alone_is_a_day_in_the_zone_of_the_memory(memory: Memory, at: str) -> None:
    added = memory.facts.add("Likes tea", "mia", valid_from=at).fact_id or ""
    begun = memory.facts.get(added)
    assert (begun.valid_from, begun.valid_from_precision) == (datetime(2026, 3, 7, tzinfo=UTC), "day")


@pytest.mark.parametrize("at", ["2026-03-07T10:00:00+02:00", "2026-03-07 08:00Z"])
def test_a_time_with_its_zone_is_that_instant(memory: Memory, at: str) -> None:
    added = memory.facts.add("Likes tea", "mia", valid_from=at).fact_id or ""
    begun = memory.facts.get(added)
    assert (begun.valid_from, begun.valid_from_precision) == (datetime(2026, 3, 7, 8, tzinfo=UTC), "instant")


def test_a_time_without_a_zone_is_refused_in_the_same_words_as_a_text_and_as_a_datetime(memory: Memory) -> None:
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    for at in (datetime(2030, 1, 2, 10), "2030-01-02T10:00:00"):
        with pytest.raises(errors.InvalidSetting, match="the time has no time zone"):
            memory.facts.expire(known, at)


def test_a_reason_may_be_as_long_as_a_statement_that_is_signed(memory: Memory) -> None:
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    with pytest.raises(errors.InvalidSetting, match="reason = '…' is invalid: it is 100000 characters long") as refused:
        memory.facts.retire(known, "a" * 100_000)
    assert refused.value.remedy == "Shorten it to 4000 characters."
    assert memory.facts.retire(known, "a" * 4_000).reason == "a" * 4_000


@pytest.mark.parametrize(
    ("verb", "named", "role"),
    [("correct", {"content": "Likes figs"}, "auditor"), ("retire", {}, "auditor"), ("expire", {"at": "2930"}, "auditor")]
    + [("add", {}, "auditor"), ("forget", {}, "admin")],
)
def test_a_preview_says_that_somebody_may_not_do_it(memory: Memory, verb: str, named: dict[str, Any], role: str) -> None:
    known = memory.facts.add("Likes tea", "mia").fact_id or ""
    viewer = memory.acting_as("Vi", user="mia")
    seen = viewer.facts.preview(verb, known, **named)
    assert (seen.possible, seen.facts, seen.known) == (False, (), None)
    assert f"needs the role {role}" in (seen.problem or "")
    assert memory.facts.preview(verb, known, **named).possible


def test_a_preview_says_what_its_verb_lacks(memory: Memory) -> None:
    with pytest.raises(errors.InvalidSetting) as refused:
        memory.facts.preview("retire", reason="gone")
    assert refused.value.message == "arguments = ('reason',) is invalid: missing a required argument: 'fact_ids'"
    assert refused.value.remedy == "facts.retire takes fact_ids, reason, ended_at; what it needs comes first."
