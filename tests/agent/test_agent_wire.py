"""The agent over the wire: tools, their limit, streaming, and what stands in the ledger."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from langchain_core.tools import tool

from fake_openai import FakeOpenAI, Held, Status
from memoir_engine import AgentClient
from memoir_engine.errors import CostUnknown, ModelRefusedKey, ModelServerFailed, QueryCancelled
from openai_bodies import Called, Text

Wired = Callable[..., AgentClient]


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: The other.
    """
    return a + b


async def shout(words: str) -> str:
    """Say it loudly."""
    return words.upper()


@tool
def town(country: str) -> str:
    """The capital of a country."""
    return {"France": "Paris"}[country]


def calling(name: str, **arguments: object) -> Called:
    return Called(((name, arguments),))


@pytest.mark.req("SESSION 4.2", "SESSION 1.3")
def test_the_model_calls_a_tool_and_answers_with_its_result(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add])
    fake_openai.say(calling("add", a=2, b=3), Text("It is 5."))
    reply = agent.query("What is 2 + 3?", session_id="s")
    assert reply.text == "It is 5."
    assert fake_openai.seen[1].turns[-1] == ("tool", "5")
    assert [one.text for one in agent.get_session_history("s") if one.type == "tool"] == ["5"]


@pytest.mark.req("SESSION 1.2")
def test_the_next_turn_carries_the_whole_conversation(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add])
    fake_openai.say(calling("add", a=2, b=3), Text("It is 5."), Text("You are welcome."))
    agent.query("What is 2 + 3?", session_id="s")
    agent.query("Thank you.", session_id="s")
    roles = [role for role, _ in fake_openai.seen[2].turns]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert fake_openai.seen[2].turns[-1] == ("user", "Thank you.")


@pytest.mark.req("SESSION 4.5")
def test_at_the_limit_of_tools_what_was_done_is_kept_and_answered_from(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add], max_tool_calls=2)
    fake_openai.say(*(calling("add", a=number, b=1) for number in range(3)), Text("I got as far as 2."))
    reply = agent.query("Count.", session_id="s")
    assert (reply.limited, reply.tool_calls, reply.text) == (True, 2, "I got as far as 2.")
    assert [one.type for one in agent.get_session_history("s")] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert "2 tool calls" in reply.warnings[0]
    assert "tools" not in fake_openai.seen[-1].body


@pytest.mark.req("SESSION 4.5")
def test_the_state_is_kept_even_when_nothing_more_can_be_said(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add], max_tool_calls=1)
    fake_openai.say(calling("add", a=1, b=1), calling("add", a=2, b=1))  # and then the server fails
    reply = agent.query("Count.", session_id="s")
    assert reply.text == "The model gave no words."
    assert [one.type for one in agent.get_session_history("s")] == ["human", "ai", "tool"]


def test_tools_may_wait_be_langchain_s_and_fail(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[shout, town])
    fake_openai.say(calling("shout", words="hi"), calling("town", country="France"), calling("town", country="Mu"), Text("Done."))
    assert agent.query("Go.", session_id="s").text == "Done."
    found = [(one.text, one.rest.get("status")) for one in agent.get_session_history("s") if one.type == "tool"]
    assert found == [("HI", None), ("Paris", None), ("The tool failed: KeyError: 'Mu'", "error")]


def test_each_request_is_a_row_of_the_ledger_with_what_was_sent(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add])
    fake_openai.say(calling("add", a=2, b=3), Text("It is 5."))
    reply = agent.query("What is 2 + 3?")
    runs = agent.memory.runs
    calls = [runs.call(one.id) for one in runs.get(reply.run_id).calls]
    assert [(call.purpose, call.model, call.error) for call in calls] == [("chat", "local-model", None)] * 2
    assert '"What is 2 + 3?"' in (calls[0].prompt or "")
    assert "add" in (calls[0].reply or "")
    assert (calls[1].reply, calls[1].tokens_prompt) == ("It is 5.", 11)


def test_a_model_that_fails_is_told_and_the_question_is_kept(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired()
    with pytest.raises(ModelServerFailed):
        agent.query("Anybody there?", session_id="s")
    assert [one.text for one in agent.get_session_history("s")] == ["Anybody there?"]
    run = agent.memory.jobs.list(verbs=["reply"])[0]
    assert (run.status, run.calls) == ("failed", 1)


@pytest.mark.req("MEMOIR 7.4", "SESSION 4.2")
@pytest.mark.parametrize("streamed", [False, True], ids=["query", "stream"])
def test_a_configured_fall_back_answers_for_the_rest_of_the_turn(wired: Wired, fake_openai: FakeOpenAI, streamed: bool) -> None:
    fake_openai.otherwise(lambda _: Status(503, "out of order"))
    fake_openai.say(calling("add", a=2, b=3))
    agent = wired(tools=[add], fallback_model="offline", lookups=False)
    reply = agent.stream("What is 2 + 3?", "s").reply if streamed else agent.query("What is 2 + 3?", "s")
    calls = agent.memory.runs.get(reply.run_id).calls
    assert [(call.model, call.error is None) for call in calls] == [
        ("local-model", True),
        ("local-model", False),
        ("offline", True),
    ]
    assert (reply.model, reply.tool_calls) == ("offline", 1)
    assert [one for one in reply.warnings if one.startswith("'offline' answers for the rest of this run: [mem][E405]")]
    assert agent.get_session_history("s")[-1].text == reply.text


def test_what_the_model_refuses_is_no_reason_to_fall_back_in_a_turn(wired: Wired, fake_openai: FakeOpenAI) -> None:
    fake_openai.otherwise(lambda _: Status(401, "wrong key"))
    with pytest.raises(ModelRefusedKey):
        wired(fallback_model="offline").query("Anybody there?")


def test_a_fall_back_without_a_price_is_not_asked_under_a_cap(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(max_cost=1.0, model="openai-chat:gpt-4o-mini", fallback_model="openai-chat:nobody-knows-it")
    with pytest.raises(CostUnknown, match="nobody-knows-it"):
        agent.query("How much?")
    assert fake_openai.seen == []


def test_a_model_without_a_price_is_not_asked_under_a_cap(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(max_cost=0.01)
    with pytest.raises(CostUnknown):
        agent.query("How much?")
    assert fake_openai.seen == []


def test_words_are_streamed_as_the_server_sends_them(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent = wired(tools=[add])
    fake_openai.say(calling("add", a=2, b=3), Text("It is five, I think."))
    replying = agent.stream("What is 2 + 3?", "s")
    assert list(replying) == ["It ", "is ", "five, ", "I ", "think."]
    assert replying.reply.text == "It is five, I think."
    last = agent.memory.runs.get(replying.reply.run_id).calls[-1]
    assert agent.memory.runs.call(last.id).reply == "It is five, I think."


def test_stopping_ends_the_turn_and_keeps_the_question(wired: Wired, fake_openai: FakeOpenAI) -> None:
    agent, gate = wired(), threading.Event()
    fake_openai.say(Held(gate, Text("Too late.")))
    replying = agent.stream("Tell me everything.", "s")
    stopping = threading.Thread(target=lambda: (fake_openai.wait_for(1), replying.stop()))
    stopping.start()
    with pytest.raises(QueryCancelled):
        list(replying)
    stopping.join()
    gate.set()
    assert [one.text for one in agent.get_session_history("s")] == ["Tell me everything."]
    assert agent.memory.jobs.list(verbs=["reply"])[0].status == "cancelled"
