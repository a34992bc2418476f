"""Agents of several users who call every tool in a mixed order, and say whether anything of another user came back.

Source: issue "Every door, from one table of verbs" (10⁴ mixed calls, 0 leaks).
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from memoir_engine import Memory
from memoir_engine.api.doors import mcp_server
from memoir_engine.api.doors.tools import TOOLS

USERS = {"ana": "quillwort", "ben": "larkspur", "eva": "mugwort"}  # a word that only what is theirs holds
ROLES: dict[str, tuple[str, ...]] = {"ana": ("viewer",), "ben": ("viewer", "auditor"), "eva": ("viewer", "auditor", "admin")}


@dataclass
class PlayedCalls:
    """What came of a play. leaks: calls in whose answer stood the word of another user. trespasses: changes by another."""

    calls: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    trespasses: list[str] = field(default_factory=list)


def furnish(memory: Memory) -> dict[str, dict[str, list[str]]]:
    """Give each user facts, a conversation, a question; return what could be asked for by whoever knows its id."""
    memory.ingest_text("The office lease ends with three months' notice. " * 4, name="lease.txt").raise_for_error()
    known: dict[str, dict[str, list[str]]] = {}
    for user, word in USERS.items():
        view = memory.acting_as(f"{user}s desk", user, ("viewer", "auditor", "admin"))
        said = [{"role": "user", "content": f"My garden is full of {word}. I live in Bern. I like {word} tea."}]
        view.remember(said, user, f"talk-{user}")
        added = view.facts.add(f"Is allergic to {word}", user, reason=f"told me about {word}")
        view.facts.suggest("add", f"Plants {word} in May")
        asked = view.query(f"What does the lease say of {word}?")
        facts = [fact.id for fact in view.facts.list(user)]
        actions = [added.action_id]
        runs = [asked.run_id] if asked.run_id else []
        known[user] = {"facts": facts, "actions": actions, "runs": runs, "sessions": [f"talk-{user}"]}
    return known


async def play(memory: Memory, calls: int, seed: int = 0) -> PlayedCalls:
    """Let the users' agents call tools and read resources in turn, half of the time with what is another's."""
    known, chance, played = furnish(memory), random.Random(seed), PlayedCalls()
    async with AsyncExitStack() as stack:
        clients = {}
        for user in USERS:
            secret = memory.tokens.make(f"agent of {user}", ROLES[user], user).secret  # type: ignore[arg-type]
            server = mcp_server.make_server(lambda _context, secret=secret: memory.acting_by(secret))
            clients[user] = await stack.enter_async_context(Client(server))
        for _ in range(calls):
            user, other = chance.choice(list(USERS)), chance.choice(list(USERS))
            name = chance.choice([*(tool.name for tool in TOOLS), "read_resource", "list_resources"])
            arguments = _arguments(name, other, known[other], chance)
            text, refused = await _answer(clients[user], name, arguments)
            played.calls[name] += 1
            played.refused[name] += refused
            heard = text.replace(str(arguments), "")
            words = [word for owner, word in USERS.items() if owner != user and word in heard]
            if words:
                played.leaks.append(f"{user} heard {words} by {name}({arguments}): {heard[:500]}")
    played.trespasses = [trespass for user in USERS for trespass in _trespasses(memory, user)]
    return played


def _trespasses(memory: Memory, user: str) -> list[str]:
    """Return the facts of a user that another has written or ended; all of them where nothing is left of the user."""
    own, facts = {f"token agent of {user}", f"{user}s desk"}, memory.facts.list(user, limit=100_000)
    done = [(fact, action) for fact in facts for action in (fact.recorded_by, fact.ended_by) if action]
    hands = [(fact, memory.audit.action(action).actor) for fact, action in done]
    found = [f"{fact.content} of {user}: by {actor}" for fact, actor in hands if actor not in own]
    return found if facts else [f"nothing is left of {user}"]


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    try:
        if name == "read_resource":
            return str((await client.read_resource(arguments["uri"])).contents), False
        if name == "list_resources":
            return str((await client.list_resources()).resources), False
        answer = await client.call_tool(name, arguments)
        return str(answer.structured_content), bool(answer.is_error)
    except MCPError as refused:
        return str(refused), True


def _arguments(name: str, other: str, known: dict[str, list[str]], chance: random.Random) -> dict[str, Any]:
    """Return arguments for a tool that ask for what is of that user. They hold no word by which a leak is seen."""
    fact, action = chance.choice(known["facts"]), chance.choice(known["actions"])
    run = chance.choice(known["runs"] or ["0" * 26])
    named = {"user_id": other} if chance.random() < 0.5 else {}
    said = [{"role": "user", "content": "I work as a nurse."}]
    given: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "garden tea allergic"},
        "recall_facts": {"text": "What grows in the garden?", **named},
        "get_context": {"text": "What is she allergic to?", **named},
        "ask_memory": {"question": "How much notice does the lease need?"},
        "why_answer": {"run_id": run},
        "list_facts": dict(named),
        "get_fact": {"fact_id": fact},
        "fact_lineage": {"fact_id": fact},
        "list_suggestions": dict(named),
        "list_sources": {},
        "read_source": {"source_id": 1},
        "browse_categories": {},
        "list_category": {"category_id": 3},
        "list_conversations": dict(named),
        "read_conversation": {"session_id": known["sessions"][0]},
        "recent_changes": {"limit": 50},
        "add_fact": {"content": f"Owns {chance.randrange(9)} bicycles", **named},
        "correct_fact": {"fact_id": fact, "content": f"Has {chance.randrange(9)} cats"},
        "end_fact": {"fact_ids": fact},
        "forget_fact": {"fact_ids": fact, "reason": "a play"},
        "list_people": {},
        "erase_person": {"user_id": other if other != "eva" else "nobody", "reason": "a play"},  # eva may erase, if anybody
        "withdraw_source": {"source_id": 99},
        "refile_chunk": {"chunk_id": 1, "category_id": chance.randrange(3, 9), "reason": "a play"},
        "remember": {"messages": said, **named},
        "add_message": {"session_id": f"talk-{other}", "role": "user", "content": "Good morning."},
        "add_document": {"text": "The canteen opens at noon.", "name": "canteen.txt"},
        "report_answer": {"run_id": run, "words": "Not so."},
        "undo": {"action_id": action},
        "read_resource": {"uri": chance.choice([f"memoir://runs/{run}", "memoir://sources/1", "memoir://other/1"])},
        "list_resources": {},
    }
    return given[name]
