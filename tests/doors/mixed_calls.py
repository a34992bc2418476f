"""Three users whose calls are mixed, what is each one's, and what came of the calls.

Source: issue "Every door, from one table of verbs" (10⁴ mixed calls, 0 leaks).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from memoir_engine import Memory

USERS = {"ana": "quillwort", "ben": "larkspur", "eva": "mugwort"}  # a word that only what is theirs holds
ROLES: dict[str, tuple[str, ...]] = {"ana": ("viewer",), "ben": ("viewer", "auditor"), "eva": ("viewer", "auditor", "admin")}


@dataclass
class PlayedCalls:
    """What came of a play. leaks: calls in whose answer stood the word of another user. faults: errors without a code.

    trespasses: facts of a user that another wrote or ended, since the users had what is theirs.
    """

    calls: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    trespasses: list[str] = field(default_factory=list)

    def note(self, user: str, name: str, arguments: dict[str, Any], heard: str, *, is_refused: bool) -> None:
        """Count a call of a user, and keep it if the answer held a word of another's."""
        self.calls[name] += 1
        self.refused[name] += is_refused
        words = [word for owner, word in USERS.items() if owner != user and word in heard]
        if words:
            self.leaks.append(f"{user} {ROLES[user]} heard {words} by {name}({arguments}): {heard[:400]}")


def furnish(memory: Memory) -> dict[str, dict[str, list[Any]]]:
    """Give each user facts, a conversation and a question; return what could be asked for by whoever knows its id."""
    memory.ingest_text("The office lease ends with three months' notice. " * 4, name="lease.txt").raise_for_error()
    known: dict[str, dict[str, list[Any]]] = {}
    for user, word in USERS.items():
        view = memory.acting_as(f"{user}s desk", user, ("viewer", "auditor", "admin"))
        said = [{"role": "user", "content": f"My garden is full of {word}. I live in Bern. I like {word} tea."}]
        drawn = view.remember(said, user, f"talk-{user}")
        added = view.facts.add(f"Is allergic to {word}", user, reason=f"told me about {word}")
        suggested = view.facts.suggest("add", f"Plants {word} in May")
        asked = view.query(f"What does the lease say of {word}?")
        known[user] = {
            "fact": [fact.id for fact in view.facts.list(user)],
            "action": [added.action_id, suggested.action_id],
            "run": [run for run in (asked.run_id, drawn.run_id) if run],
            "session": [f"talk-{user}"],
            "proposal": list(suggested.proposals),
        }
    return known


def trespasses(memory: Memory, user: str) -> list[str]:
    """Return the facts of a user that another has written or ended; all of them where nothing is left of the user."""
    own, facts = {f"token desk of {user}", f"{user}s desk"}, memory.facts.list(user, limit=100_000)
    done = [(fact, action) for fact in facts for action in (fact.recorded_by, fact.ended_by) if action]
    hands = [(fact, memory.audit.action(action).actor) for fact, action in done]
    found = [f"{fact.content} of {user}: by {actor}" for fact, actor in hands if actor not in own]
    return found if facts else [f"nothing is left of {user}"]
