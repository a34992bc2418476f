"""Summaries of sessions and of knowledge. Source: MEMOLLA F-04, E003, E006, §1."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from fake_openai import FakeOpenAI, Held, Seen, Status
from memoir_engine import MemoirError, Memory
from memoir_engine.core.errors import ModelServerFailed, ModelTimedOut, SummaryTargetUnclear, TargetNotFound
from memoir_engine.prompts import summarise

Opened = Any
TEA = "Tea is grown in Uji. The first harvest begins in May. Shaded leaves become gyokuro, which costs 40 euros."


def say(memory: Memory, *said: tuple[str, str]) -> None:
    for role, content in said:
        memory.add_conversation("s1", role, content)


def short(seen: Seen) -> dict[str, str]:
    """Summarise by quoting the given text."""
    given = summarise.read(seen.user_text)
    return {"summary": f"{given.kind} {given.part or 'whole'} of {given.of_parts}"}


@pytest.mark.req("MEMOLLA F-04-01")
def test_a_session_is_summarised_from_its_messages_in_order_of_time(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    say(memory, ("user", "I would like tea from Uji."), ("assistant", "Gyokuro costs 40 euros."), ("user", "Send it on Friday."))
    fake_openai.say({"summary": "Tea was ordered."})
    assert memory.create_summary(session_id="s1") == "Tea was ordered."
    given = summarise.read(fake_openai.seen[-1].user_text)
    assert (given.kind, given.name) == ("conversation", "s1")
    assert given.text == "user: I would like tea from Uji.\nassistant: Gyokuro costs 40 euros.\nuser: Send it on Friday."
    run = memory.runs.list()[0]
    assert (run.verb, run.status) == ("create_summary", "done")
    assert [call.purpose for call in memory.runs.get(run.id).calls] == ["summarise"]


@pytest.mark.req("MEMOLLA F-04-02")
def test_a_document_is_summarised_from_its_whole_text(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    fake_openai.say({"summary": "Gyokuro comes from Uji."})
    assert memory.create_summary(doc_id="tea") == "Gyokuro comes from Uji."
    given = summarise.read(fake_openai.seen[-1].user_text)
    assert (given.kind, given.name, given.text, given.target_chars) == ("document", "tea", TEA, 1200)


@pytest.mark.req("MEMOLLA F-04-01")
@pytest.mark.req("MEMOLLA F-04-02")
def test_without_a_model_the_most_telling_sentences_are_the_summary(memory: Memory):
    memory.add_knowledge("tea", TEA * 20)
    say(memory, ("user", TEA), ("assistant", "Good."))
    assert len(memory.create_summary(doc_id="tea", options={"max_chars": 120})) <= 120
    assert "Uji" in memory.create_summary(session_id="s1")


@pytest.mark.req("MEMOLLA F-04-01")
def test_a_summarizer_of_the_callers_own_is_given_the_text_in_the_models_place(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    say(memory, ("user", "Hello."), ("assistant", "Good day."))

    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text[-9:]

    assert memory.create_summary(session_id="s1", options={"summarizer": str.upper}) == "USER: HELLO.\nASSISTANT: GOOD DAY."
    assert memory.create_summary(doc_id="tea", options={"summarizer": later}) == "40 euros."
    with pytest.raises(MemoirError, match=r"summarizer = 'int' is invalid: it returned no text"):
        memory.create_summary(doc_id="tea", options={"summarizer": len})
    assert fake_openai.seen == []


@pytest.mark.req("MEMOLLA F-04-03", "MEMOLLA E003")
@pytest.mark.parametrize("given", [{}, {"session_id": "s1", "doc_id": "tea"}], ids=["neither", "both"])
def test_exactly_one_target_is_asked_for_to_the_letter(memory: Memory, given: dict[str, str]):
    with pytest.raises(SummaryTargetUnclear) as refused:
        memory.create_summary(**given)
    assert str(refused.value) == "[mem][E003] specify either session_id or doc_id"


@pytest.mark.req("MEMOLLA F-04-04", "MEMOLLA E006")
@pytest.mark.parametrize(
    "given", [{"session_id": "s9"}, {"doc_id": "coffee"}, {"doc_id": ""}], ids=["session", "document", "blank"]
)
def test_a_target_that_does_not_exist_is_said_to_the_letter(memory: Memory, given: dict[str, str]):
    with pytest.raises(TargetNotFound) as refused:
        memory.create_summary(**given)
    assert str(refused.value) == "[mem][E006] target not found"


@pytest.mark.req("MEMOLLA F-04-04")
def test_the_session_of_another_user_and_withdrawn_knowledge_are_not_there(memory: Memory):
    mia, ben = (memory.acting_as(name, user=name) for name in ("Mia", "Ben"))
    mia.add_conversation("s1", "user", "My secret is tea.")
    known = memory.add_knowledge("tea", TEA)
    memory.sources.withdraw(known.source_id)
    assert "secret" in mia.create_summary(session_id="s1")
    for view, target in ((ben, {"session_id": "s1"}), (memory, {"session_id": "s1"}), (memory, {"doc_id": "tea"})):
        with pytest.raises(TargetNotFound):
            view.create_summary(**target)


@pytest.mark.req("MEMOLLA F-04-04")
def test_a_cleared_session_is_not_there_until_somebody_speaks_in_it_again(memory: Memory):
    say(memory, ("user", "I like coffee."))
    memory.sessions.clear_session("s1")
    with pytest.raises(TargetNotFound) as refused:
        memory.create_summary(session_id="s1")
    assert str(refused.value) == "[mem][E006] target not found"
    say(memory, ("user", "I like tea."))
    assert "tea" in memory.create_summary(session_id="s1")


@pytest.mark.req("MEMOLLA F-04-01", "MEMOLLA F-04-02")
def test_a_call_is_tried_three_times_with_doubled_waits_by_default(
    on_the_wire: Opened, fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
):
    memory, naps = on_the_wire(), []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    monkeypatch.setattr(memory._async._engine.client, "sleep", nap)
    memory.add_knowledge("tea", TEA)
    fake_openai.say(Status(500), Status(500), {"summary": "Tea."})
    assert memory.create_summary(doc_id="tea") == "Tea."
    assert (len(fake_openai.seen), naps, memory.config.timeout_s) == (3, [0.5, 1.0], 30)
    fake_openai.say(*[Status(500)] * 3)
    with pytest.raises(ModelServerFailed):
        memory.create_summary(doc_id="tea")
    assert len(fake_openai.seen) == 6


@pytest.mark.req("MEMOLLA F-04-01", "MEMOLLA F-04-02")
def test_options_override_the_retries_the_timeout_and_the_model(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    fake_openai.say(Status(500))
    with pytest.raises(ModelServerFailed):
        memory.create_summary(doc_id="tea", options={"max_retries": 0})
    assert len(fake_openai.seen) == 1
    gate = threading.Event()
    fake_openai.say(Held(gate, {"summary": "too late"}))
    with pytest.raises(ModelTimedOut, match=r"0\.9 s"):
        memory.create_summary(doc_id="tea", options={"timeout": 0.9, "max_retries": 0})
    gate.set()
    held = threading.Event()
    fake_openai.say(Held(held, {"summary": "too late"}))
    with pytest.raises(ModelTimedOut, match=r"0\.8 s"):
        memory.create_summary(doc_id="tea", options={"timeout_s": 0.8, "max_retries": 0})
    held.set()
    fake_openai.say({"summary": "Tea."})
    memory.create_summary(doc_id="tea", options={"model": "other-model"})
    assert [seen.body["model"] for seen in fake_openai.seen] == ["local-model", "local-model", "local-model", "other-model"]
    assert memory.model_name == "local-model"


@pytest.mark.req("MEMOLLA F-04-02")
def test_a_long_text_is_summarised_in_parts_and_then_as_a_whole(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire(max_token_budget=600)
    fake_openai.otherwise(short)
    text = "".join(f"Sentence number {at} says something about tea. " for at in range(80))
    memory.add_knowledge("tea", text)
    told = memory.create_summary(doc_id="tea")
    asked = [summarise.read(seen.user_text) for seen in fake_openai.seen]
    parts = sorted((one for one in asked if one.part), key=lambda one: one.part or (0, 0))
    assert len(parts) >= 3
    assert "".join(one.text for one in parts) == text
    assert told == f"document whole of {len(parts)}"
    assert asked[-1].text == "\n\n".join(f"document ({n}, {len(parts)}) of 0" for n in range(1, len(parts) + 1))


@pytest.mark.req("MEMOLLA F-04-02")
def test_a_summary_above_max_chars_is_asked_for_again(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    fake_openai.say({"summary": TEA}, {"summary": "Tea comes from Uji."})
    assert memory.create_summary(doc_id="tea", options={"max_chars": 60}) == "Tea comes from Uji."
    again = summarise.read(fake_openai.seen[-1].user_text)
    assert (again.text, again.target_chars, again.of_parts) == (TEA, 60, 1)


@pytest.mark.req("MEMOLLA F-04-02")
@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (TEA, "Tea is grown in Uji. The first harvest begins in May."),
        ("日本茶は宇治で栽培されています。" * 4, " ".join(["日本茶は宇治で栽培されています。"] * 3)),
        ("x" * 5000, "x" * 60),
    ],
    ids=["english", "japanese", "no sentence"],
)
def test_a_model_that_will_not_be_brief_is_left_with_whole_sentences_within_max_chars(
    on_the_wire: Opened, fake_openai: FakeOpenAI, told: str, kept: str
):
    memory = on_the_wire()
    memory.add_knowledge("tea", TEA)
    fake_openai.otherwise(lambda _seen: {"summary": told})
    assert memory.create_summary(doc_id="tea", options={"max_chars": 60}) == kept
    assert len(fake_openai.seen) == 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"timeout": -1}, "timeout_s"),
        ({"timeout": 1, "timeout_s": 2}, "timeout"),
        ({"max_retries": "many"}, "max_retries"),
        ({"length": 3}, "there is no such option"),
        ({"summarizer": "me"}, "it cannot be called"),
        ({"max_chars": 0}, "max_chars"),
        ("fast", "it must be a dict"),
    ],
    ids=["timeout", "two timeouts", "max_retries", "unknown", "summarizer", "max_chars", "no dict"],
)
def test_options_that_cannot_be_are_refused_by_name(memory: Memory, options: Any, problem: str):
    memory.add_knowledge("tea", TEA)
    with pytest.raises(MemoirError, match=f"E102.*{problem}") as refused:
        memory.create_summary(doc_id="tea", options=options)
    assert refused.value.remedy


def test_a_session_without_words_is_summarised_as_nothing(memory: Memory):
    memory.sessions.create("s1")
    assert memory.create_summary(session_id="s1") == ""


def test_clearing_a_session_takes_what_was_asked_about_it(on_the_wire: Opened, fake_openai: FakeOpenAI):
    memory = on_the_wire()
    say(memory, ("user", "My secret is gyokuro."))
    memory.create_summary(session_id="s1")
    (run,) = [one for one in memory.runs.list() if one.verb == "create_summary"]
    (call,) = memory.runs.get(run.id).calls
    assert "gyokuro" in (memory.runs.call(call.id).prompt or "")
    memory.sessions.clear_session("s1")
    assert "gyokuro" not in (memory.runs.call(call.id).prompt or "")
    assert memory.audit.verify().ok
