"""Player that turns numbers into actions on facts, and checks their rules meanwhile.

    play = Play(memory, script)
    play.step("say", 4, 7)        # whatever 4 and 7 come to among what is there now; nothing where it is refused
    play.undo_all([3, 1, 2])      # in an order of these numbers, as far as previews allow, until nothing is left
Invariant: what a preview allows happens and what it refuses changes nothing; nothing is ever known of one user by another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fact_play import remember
from memoir_engine import FactView, Memory
from memoir_engine.core import errors
from memoir_engine.langgraph import MemoirStore
from memoir_engine.prompts import consolidate
from scripted_model import Asked, Script

USERS = ("mia", "ben")
TEXTS = (
    "Tea is what Mia likes",
    "Tea is what Mia likes most",
    "Tea is not for Mia",
    "Tea at noon suits Mia",
    "Tea bores Mia now",
)
RELATIONS = ("none", "update", "duplicate", "conflict", "complementary", "update")
VERBS = (
    *("say", "say", "say", "say", "say", "restore", "restore", "settle", "settle", "judge", "judge", "judge"),
    *("undo", "undo", "undo", "redo", "redo", "probe", "probe"),
    *("correct", "correct", "add", "add", "retire", "expire", "expire", "settle"),
    *("suggest", "suggest", "store", "store", "settle"),
)
State = tuple[Any, ...]


@dataclass
class Play:
    memory: Memory
    script: Script
    done: list[str] = field(default_factory=list)  # actions that stand and are no undo
    undoings: dict[str, str] = field(default_factory=dict)  # undos that stand, and what they undid

    def __post_init__(self) -> None:
        self._verdict: tuple[str, bool] = ("none", True)
        self.script.always("consolidate", self._judged)

    def step(self, verb: str, one: int, other: int) -> None:
        known = {"say": self._say, "restore": self._restore, "settle": self._settle, "judge": self._judge}
        known |= {"correct": self._correct, "add": self._add, "retire": self._retire, "expire": self._expire}
        known |= {"undo": self._undo, "redo": self._redo, "probe": self._probe, "forget": self._forget}
        known |= {"erase": self._erase, "suggest": self._suggest, "store": self._store}
        action = known[verb](one, other)
        if action is not None:
            self.done.append(action)

    def undo_all(self, numbers: Sequence[int]) -> None:
        turns = iter(numbers)
        while self.done:
            can = self._undoable(self.done)
            assert can, f"none can be undone: {[self.memory.review.preview_undo(one) for one in self.done]}"
            self._take_back(can[next(turns, 0) % len(can)])

    def state(self) -> State:
        """Return all that people see of facts, of every user."""
        return tuple(self._of(user) for user in USERS) + (self._queue(),)

    def problems(self) -> list[str]:
        """List violations of the record and of the rules of facts."""
        check = self.memory.audit.verify()
        broken = [] if check.ok else [str(check.problem)]
        for user in USERS:
            facts = self.memory.facts.list(user)
            ids = {one.id for one in facts}
            broken += [
                f"{one.content} of {user} gave way to nothing" for one in facts if (one.superseded_by or one.id) not in ids
            ]
            broken += [
                f"{one.content} is {one.status} and gave way" for one in facts if one.status == "active" and one.superseded_by
            ]
            broken += [f"{one.content} has no words behind it" for one in facts if not one.origins]
            recalled = [one.content for one in self.memory.recall("tea", user_id=user, limit=50)]
            broken += [
                f"{user} recalls what is not known: {one}" for one in recalled if one not in {fact.content for fact in facts}
            ]
        return broken

    # --- what can be done ---------------------------------------------------------------------------------------------

    def _say(self, one: int, other: int) -> str | None:
        self._verdict = (RELATIONS[other % len(RELATIONS)], other // len(RELATIONS) % 3 != 0)
        done = remember(self.memory, TEXTS[one % len(TEXTS)], user=USERS[one // len(TEXTS) % 2])
        return None if done.seen_again else done.action_id

    def _restore(self, one: int, _: int) -> str | None:
        gone = [fact for fact in self._facts() if fact.status == "outdated"]
        try:
            return self.memory.facts.restore(gone[one % len(gone)].id).action_id if gone else None
        except errors.ReviewError:
            return None

    def _settle(self, one: int, other: int) -> str | None:
        waiting = [proposal for user in USERS for proposal in self.memory.facts.proposals(user)]
        if not waiting:
            return None
        decide = self.memory.facts.approve if other % 2 else self.memory.facts.reject
        content = f"{TEXTS[other % len(TEXTS)]}, really" if other % 3 == 0 else None
        try:
            return decide(waiting[one % len(waiting)].id, content=content).action_id
        except errors.ReviewError:
            return None

    def _correct(self, one: int, other: int) -> str | None:
        """Set right the words of a fact, and at times when it began."""
        facts = self._facts()
        begins = f"20{10 + other % 10}" if other % 2 else None
        try:
            chosen = facts[one % len(facts)].id if facts else "none"
            return self.memory.facts.correct(chosen, TEXTS[other % len(TEXTS)], "Misheard", valid_from=begins).action_id
        except (errors.ReviewError, errors.FactError):
            return None

    def _add(self, one: int, other: int) -> str:
        until = "2999-01" if other % 3 == 0 else None
        return self.memory.facts.add(
            TEXTS[one % len(TEXTS)], USERS[one // len(TEXTS) % 2], subject="Tea", expires_at=until, reason="Told me"
        ).action_id

    def _retire(self, one: int, other: int) -> str | None:
        """End up to two facts at once."""
        active = [fact.id for fact in self._facts() if fact.status == "active"]
        chosen = active[one % len(active) :][: 1 + other % 2] if active else []
        try:
            return self.memory.facts.retire(chosen, ended_at="2026-04" if other % 3 else None).action_id if chosen else None
        except errors.FactError:
            return None

    def _expire(self, one: int, other: int) -> str | None:
        active = [fact.id for fact in self._facts() if fact.status == "active"]
        chosen = active[one % len(active) :][: 1 + other % 2] if active else []
        try:
            at = None if other % 4 == 0 else f"29{10 + other % 90}"
            return self.memory.facts.expire(chosen, at, reason="Until then").action_id if chosen else None
        except (errors.ReviewError, errors.FactError):
            return None

    def _suggest(self, one: int, other: int) -> str | None:
        facts, words = self._facts(), TEXTS[other % len(TEXTS)]
        verb = ("add", "correct", "retire")[other % 3]
        about: tuple[Any, ...] = (words,) if verb == "add" else (facts[one % len(facts)].id if facts else "none", words)
        more = {"user_id": USERS[one % 2], "subject": "Tea"} if verb == "add" else {}
        try:
            return self.memory.facts.suggest(verb, *about, **more).action_id
        except (errors.ReviewError, errors.FactError):
            return None

    def _store(self, one: int, other: int) -> str | None:
        """Put an item of a store, or delete it."""
        store = MemoirStore(self.memory.acting_as("bot", user=USERS[one % 2], roles=("auditor",)))
        head, key = self.memory.audit.head(), str(one % 3)
        if other % 3:
            store.put(("notes",), key, {"content": TEXTS[other % len(TEXTS)]}, ttl=1e8 if other % 4 == 0 else None)
        else:
            store.delete(("notes",), key)
        return None if self.memory.audit.head() == head else self.memory.audit.events(limit=1)[0].action_id

    def _judge(self, one: int, other: int) -> str | None:
        items = self.memory.review.facts(limit=500).items
        if not items:
            return None
        decide = (self.memory.review.approve, self.memory.review.reject, self.memory.review.skip)[other % 3]
        try:
            return decide(items[one % len(items)].key).action_id
        except errors.ReviewError:
            return None

    def _forget(self, one: int, _: int) -> None:
        facts = self._facts()
        if facts:
            self.memory.facts.forget(facts[one % len(facts)].id, "please")

    def _erase(self, one: int, _: int) -> None:
        """Erase a person: what the preview counts goes, and no other's facts change."""
        gone, other = USERS[one % 2], USERS[(one + 1) % 2]
        before = self._of(other)
        if gone in [person.user_id for person in self.memory.people.list()]:
            self.memory.people.erase(gone, "please")
        assert gone not in [person.user_id for person in self.memory.people.list()]
        assert (self.memory.facts.list(gone), self._of(other)) == ((), before)

    def _undo(self, one: int, _: int) -> None:
        can = self._undoable(self.done)
        if can:
            self._take_back(can[one % len(can)])

    def _redo(self, one: int, _: int) -> str | None:
        can = self._undoable(list(self.undoings))
        return self._bring_back(can[one % len(can)]) if can else None

    def _probe(self, one: int, _: int) -> str | None:
        """Undo an action and undo that at once: the state must be equal."""
        can = self._undoable(self.done)
        if not can:
            return None
        before = self.state()
        undoing = self._take_back(can[one % len(can)])
        brought = self._bring_back(undoing)
        assert self.state() == before, "undone and brought back, and something is left"
        return brought

    def _undoable(self, actions: Sequence[str]) -> list[str]:
        return [one for one in actions if self.memory.review.preview_undo(one).possible]

    def _take_back(self, action: str) -> str:
        undoing = self.memory.review.undo(action).action_id
        self.done.remove(action)
        self.undoings[undoing] = action
        return undoing

    def _bring_back(self, undoing: str) -> str:
        """Undo an undo; its action stands for the first one from now on."""
        brought = self.memory.review.undo(undoing).action_id
        del self.undoings[undoing]
        return brought

    # --- what is there ------------------------------------------------------------------------------------------------

    def _facts(self) -> list[FactView]:
        return [one for user in USERS for one in self.memory.facts.list(user)]

    def _of(self, user: str) -> State:
        facts = sorted(
            (
                one.id,
                one.content,
                one.status,
                one.cause,
                one.superseded_by,
                len(one.origins),
                str(one.expires_at),
                str(one.valid_to),
            )
            for one in self._listed(user)
        )
        proposals = sorted((one.id, one.new.id, tuple(old.id for old in one.old)) for one in self.memory.facts.proposals(user))
        relations = sorted((one.source_id, one.target_id, one.kind) for one in self.memory.facts.relations(user))
        return (tuple(facts), tuple(proposals), tuple(relations))

    def _listed(self, user: str) -> Sequence[FactView]:
        return self.memory.facts.list(user)

    def _queue(self) -> State:
        return tuple(sorted((one.kind, one.fact.id, one.state) for one in self.memory.review.facts(limit=500).items))

    def _judged(self, asked: Asked) -> dict[str, Any]:
        relation, sure = self._verdict
        meeting = consolidate.read(asked.text)
        known = [one.label for one in meeting.known]
        merged = "Tea is what Mia likes, at noon too" if relation == "complementary" else ""
        found = {
            "relation": relation if known else "none",
            "known": known[:1],
            "merged": merged,
            "sure": sure,
            "why": "So it is.",
        }
        return {"verdicts": [{"new": one.label, **found} for one in meeting.new]}
