"""Equal facts of several cuts are merged, with the relations between them."""

from __future__ import annotations

import pytest

from memoir_engine import chunk_conversation
from memoir_engine.facts.extraction import DraftFact, DraftLink, Span, merge, repoint
from sample_conversations import dialogue

CUT = chunk_conversation(dialogue("I moved to Oslo.")).cuts[0]


def found(
    number: int, content: str, *, subject: str = "Ana", entities: tuple[str, ...] = (), confidence: float = 0.5
) -> DraftFact:
    return DraftFact(f"f{number}", content, "personal", subject, entities, confidence, "", "", (Span(number, 0, 4, CUT),))


def left(*facts: DraftFact) -> list[str]:
    return [fact.content for fact in merge(facts).facts]


@pytest.mark.req("CHUNK 8.2")
@pytest.mark.parametrize(
    "again",
    ["Ana  lives in Oslo", "ana lives in Oslo.", "Ana is living in Oslo.", "Ana really lives in Oslo."],
    ids=["spaces", "case", "form of a word", "a silent word"],
)
def test_facts_of_like_content_are_one(again):
    assert left(found(1, "Ana lives in Oslo."), found(2, again)) == ["Ana lives in Oslo."]


@pytest.mark.req("CHUNK 8.2")
@pytest.mark.parametrize(
    "other",
    [
        found(2, "Ana lives in Bergen.", entities=("Bergen",)),
        found(2, "Ana no longer lives in Oslo."),
        found(2, "Ana lives in Oslo.", subject="Bo"),
        found(2, "Ana has lived in Oslo since 2019."),
    ],
    ids=["another place", "a negation", "another person", "a number"],
)
def test_facts_that_differ_in_an_entity_a_negation_or_a_number_stay_two(other):
    assert len(left(found(1, "Ana lives in Oslo.", entities=("Oslo",)), other)) == 2


@pytest.mark.req("CHUNK 8.2", "CHUNK 8.3", "CHUNK 8.4")
def test_names_that_either_of_them_has_are_kept_with_the_better_confidence_and_both_origins():
    merged = merge(
        [found(1, "Ana lives in Oslo.", entities=("Oslo",)), found(2, "Ana lives in Oslo", entities=("Ana",), confidence=0.9)]
    )
    (fact,) = merged.facts
    assert (fact.id, fact.entities, fact.confidence) == ("f1", ("Oslo", "Ana"), 0.9)
    assert ([span.message for span in fact.spans], merged.duplicates) == ([1, 2], 1)


@pytest.mark.req("CHUNK 9.3", "CHUNK 9.4", "CHUNK 9.5")
def test_relations_follow_the_fact_that_is_left_and_those_that_lose_an_end_go():
    stands_for = {"f1": "f1", "f2": "f1", "f3": "f3"}
    links = [
        DraftLink("f2", "f3", "because", 0.4),
        DraftLink("f1", "f3", "because", 0.7),
        DraftLink("f1", "f2", "same time", 0.9),
        DraftLink("f3", "f9", "because", 0.9),
    ]
    kept, gone = repoint(links, stands_for)
    assert (kept, gone) == ((DraftLink("f1", "f3", "because", 0.7),), 2)
