"""Agents of several users who call every tool in a mixed order, and say whether anything of another user came back.

Source: issue "Every door, from one table of verbs" (10⁴ mixed calls, 0 leaks).
"""

from __future__ import annotations

import random
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from doors.mixed_calls import ROLES, USERS, PlayedCalls, trespasses
from memoir_engine import Memory
from memoir_engine.api.doors import mcp_server
from memoir_engine.api.doors.tools import TOOLS


async def play(memory: Memory, known: dict[str, dict[str, list[Any]]], calls: int, seed: int = 0) -> PlayedCalls:
    """Let the users' agents call tools and read resources in turn, two times in three with what is another's."""
    chance, played = random.Random(seed), PlayedCalls()
    names = [*(tool.name for tool in TOOLS), "read_resource", "list_resources"]
    async with AsyncExitStack() as stack:
        clients = {}
        for user in USERS:
            secret = memory.tokens.make(f"desk of {user}", ROLES[user], user).secret  # type: ignore[arg-type]
            server = mcp_server.make_server(lambda _context, secret=secret: memory.acting_by(secret))
            clients[user] = await stack.enter_async_context(Client(server))
        for number in range(calls):
            user, other = chance.choice(list(USERS)), chance.choice(list(USERS))
            name = names[number % len(names)] if number < len(names) else chance.choice(names)
            arguments = _arguments(name, other, known[other], chance)
            text, refused, is_fault = await _answer(clients[user], name, arguments)
            played.note(user, name, arguments, text.replace(str(arguments), ""), is_refused=refused)
            played.faults += [f"{name}({arguments}): {text}"] if is_fault else []
    played.trespasses = [trespass for user in USERS for trespass in trespasses(memory, user)]
    return played


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> tuple[str, bool, bool]:
    """Return what came back, whether the call was refused, and whether it failed without a code."""
    try:
        if name == "read_resource":
            return str((await client.read_resource(arguments["uri"])).contents), False, False
        if name == "list_resources":
            return str((await client.list_resources()).resources), False, False
        answer = await client.call_tool(name, arguments)
        text = str(answer.structured_content)
        return text, bool(answer.is_error), bool(answer.is_error) and "'code': 'E" not in text
    except MCPError as refused:
        return str(refused), True, "[mem][E" not in str(refused)


def _arguments(name: str, other: str, known: dict[str, list[Any]], chance: random.Random) -> dict[str, Any]:
    """Return arguments for a tool that ask for what is of that user. They hold no word by which a leak is seen."""
    fact, action = chance.choice(known["fact"]), chance.choice(known["action"])
    run = chance.choice(known["run"])
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
        "read_conversation": {"session_id": known["session"][0]},
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
