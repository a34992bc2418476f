"""Player that turns numbers into actions on facts, and checks their rules meanwhile.

    play = Play(memory, script)
    play.step("say", 4, 7)        # whatever 4 and 7 come to among what is there now; nothing where it is refused
    play.undo_all([3, 1, 2])      # in an order of these numbers, as far as previews allow, until nothing is left
Invariant: what a preview allows happens and what it refuses changes nothing; nothing is ever known of one user by another. What a
person states may have a word that nothing else has, beside it in its reason, its metadata and its agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import fact_rules
from fact_play import remember
from fact_rules import Moments
from memoir_engine import FactView, Memory
from memoir_engine.core import errors
from memoir_engine.langgraph import MemoirStore
from memoir_engine.prompts import consolidate
from scripted_model import Asked, Script
from set_clock import SetClock

USERS = ("mia", "ben")
SOURCES = ("Tea is poured by Quill", "Tea is what Quill sells. Tea is poured by Quill")
REFUSALS = (errors.FactError, errors.ReviewError)
WORD = re.compile("zq[a-z]+q")  # one that nothing else has
TEXTS = (
    "Tea is what Mia likes",
    "Tea is what Mia likes most",
    "Tea is not for Mia",
    "Tea at noon suits Mia",
    "Tea bores Mia now",
)
RELATIONS = ("none", "update", "duplicate", "conflict", "complementary", "update")
VERBS = (
    *("say", "say", "say", "say", "restore", "restore", "settle", "settle", "judge", "judge"),
    *("undo", "undo", "redo", "redo", "probe", "probe", "probe"),
    *("correct", "correct", "add", "add", "add", "add", "retire", "retire", "expire", "expire"),
    *("suggest", "suggest", "store", "store", "settle", "source", "wait", "wait", "wait"),
)


@dataclass
class Play:
    memory: Memory
    script: Script
    clock: SetClock | None = None
    done: list[str] = field(default_factory=list)  # actions that stand and are no undo
    undoings: dict[str, str] = field(default_factory=dict)  # undos that stand, and what they undid

    def __post_init__(self) -> None:
        self._verdict: tuple[str, bool, bool] = ("none", True, False)
        self._words, self._sources = 0, dict[str, int]()
        self.moments = Moments(self.memory, USERS)
        self.script.always("consolidate", self._judged)

    def step(self, verb: str, one: int, other: int) -> None:
        known = {"say": self._say, "restore": self._restore, "settle": self._settle, "judge": self._judge}
        known |= {"correct": self._correct, "add": self._add, "retire": self._retire, "expire": self._expire}
        known |= {"undo": self._undo, "redo": self._redo, "probe": self._probe, "forget": self._forget}
        known |= {"erase": self._erase, "suggest": self._suggest, "store": self._store, "source": self._source}
        action = known[verb](one, other) if verb != "wait" else self._wait(one)
        if action is not None:
            self.done.append(action)
        self.moments.add()

    def undo_all(self, numbers: Sequence[int]) -> None:
        turns = iter(numbers)
        while self.done:
            can = self._undoable(self.done)
            assert can, f"none can be undone: {[self.memory.review.preview_undo(one) for one in self.done]}"
            self._take_back(can[next(turns, 0) % len(can)])

    def state(self) -> fact_rules.State:
        return fact_rules.state(self.memory, USERS)

    def problems(self) -> list[str]:
        """List violations of the record and of the rules of facts."""
        return fact_rules.standing(self.memory, USERS, datetime.now(UTC) if self.clock is None else self.clock.now())

    # --- what can be done ---------------------------------------------------------------------------------------------

    def _say(self, one: int, other: int) -> str | None:
        self._judge_as(other)
        user = USERS[one // len(TEXTS) % 2]
        done = remember(self.memory, _text(one, user), user=user)
        return None if done.seen_again else done.action_id

    def _source(self, one: int, other: int) -> str | None:
        """Draw facts about a user from a filed text."""
        self._judge_as(other)
        text = SOURCES[one % len(SOURCES)]
        if text not in self._sources:
            self._sources[text] = self.memory.add_knowledge(f"text {one % len(SOURCES)}", text).source_id
        done = self.memory.remember_source(self._sources[text], user_id=USERS[one // len(SOURCES) % 2], agent_id="clerk")
        return None if done.seen_again else done.action_id

    def _wait(self, one: int) -> None:
        if self.clock is not None:
            self.clock.moved += timedelta(days=1 + one % 3)

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
        asked = waiting[one % len(waiting)]
        content = f"{_text(other, asked.user_id)} {self._word()}" if other % 3 == 0 else None
        try:
            return decide(asked.id, self._why(content or ""), content=content).action_id
        except errors.ReviewError:
            return None

    def _correct(self, one: int, other: int) -> str | None:
        """Set right the words of a fact, and at times when it began."""
        facts = self._facts()
        begins = f"20{10 + other % 10}" if other % 2 else None
        if not facts:
            return None
        fact = facts[one % len(facts)]
        words = f"{_text(other, fact.user_id)} {self._word()}" if other % 3 else _text(other, fact.user_id)
        try:
            return self.memory.facts.correct(fact.id, words, self._why(words), valid_from=begins).action_id
        except REFUSALS:
            return None

    def _add(self, one: int, other: int) -> str:
        """State a fact, at times with a word of its own in all that is noted with it."""
        user, word = USERS[one // len(TEXTS) % 2], self._word() if other % 2 else ""
        until = self._until(other) if other % 3 == 0 else None
        noted = {"agent_id": word, "metadata": {"of": word}} if word else {}
        words = f"{_text(one, user)} {word}".strip()
        return self.memory.facts.add(
            words, user, subject="Tea", expires_at=until, reason=self._why(words), entities=[word] if word else (), **noted
        ).action_id

    def _retire(self, one: int, other: int) -> str | None:
        """End up to two facts at once."""
        active = [fact.id for fact in self._facts() if fact.status == "active"]
        chosen = active[one % len(active) :][: 1 + other % 2] if active else []
        try:
            return self.memory.facts.retire(chosen, ended_at="2026-04" if other % 3 else None).action_id if chosen else None
        except REFUSALS:
            return None

    def _expire(self, one: int, other: int) -> str | None:
        active = [fact.id for fact in self._facts() if fact.status == "active"]
        chosen = active[one % len(active) :][: 1 + other % 2] if active else []
        try:
            at = None if other % 4 == 0 else self._until(other)
            return self.memory.facts.expire(chosen, at, reason="Until then").action_id if chosen else None
        except REFUSALS:
            return None

    def _suggest(self, one: int, other: int) -> str | None:
        facts, verb = self._facts(), ("add", "correct", "retire")[other % 3]
        if not facts and verb != "add":
            return None
        fact = facts[one % len(facts)] if verb != "add" else None
        user = USERS[one % 2] if fact is None else fact.user_id
        words = f"{_text(other, user)} {self._word()}"
        about: tuple[Any, ...] = (words,) if fact is None else (fact.id, words if verb == "correct" else None)
        more = {"user_id": user, "subject": "Tea"} if fact is None else {}
        try:
            return self.memory.facts.suggest(verb, *about, reason=self._why(words), **more).action_id
        except REFUSALS:
            return None

    def _store(self, one: int, other: int) -> str | None:
        """Put an item of a store, or delete it."""
        store = MemoirStore(self.memory.acting_as("bot", user=USERS[one % 2], roles=("auditor",)))
        head, key = self.memory.audit.head(), str(one % 3)
        if other % 3:
            words = _text(other, USERS[one % 2])
            store.put(("notes",), key, {"content": words}, ttl=1e8 if other % 4 == 0 else None)
        else:
            store.delete(("notes",), key)
        return None if self.memory.audit.head() == head else self.memory.audit.events(limit=1)[0].action_id

    def _judge(self, one: int, other: int) -> str | None:
        items = self.memory.review.facts(limit=500).items
        if not items:
            return None
        item, review = items[one % len(items)], self.memory.review
        decide = (review.approve, review.reject, review.skip)[other % 3]
        words = {"content": f"{_text(other, item.fact.user_id)} {self._word()}"} if other % 5 == 0 and other % 3 < 2 else {}
        try:
            return decide(item.key, **words).action_id
        except errors.ReviewError:
            return None

    def _forget(self, one: int, other: int) -> None:
        """Forget up to two facts: the words that only they had are nowhere."""
        facts = self._facts()
        chosen = [fact.id for fact in facts[one % len(facts) :][: 1 + other % 2]] if facts else []
        if chosen:
            seen = self.memory.facts.preview("forget", chosen)
            assert seen.erases is not None
            gone = {fact.id: fact for fact in (*seen.facts, *seen.merged)}
            words = {word for fact in gone.values() for word in WORD.findall(fact.content)}
            self.memory.facts.forget(chosen, "please")
            assert not gone.keys() & {fact.id for fact in self._facts()}
            self.moments.forget(gone)
            words -= {word for fact in self._facts() for word in WORD.findall(fact.content)}
            assert fact_rules.words_left(self.memory, words) == []

    def _erase(self, one: int, _: int) -> None:
        """Erase a person: what the preview counts goes, and no other's facts change."""
        gone, other = USERS[one % 2], USERS[(one + 1) % 2]
        facts, before = self.memory.facts.list(gone), fact_rules.state(self.memory, [other])
        if gone in [person.user_id for person in self.memory.people.list()]:
            self.memory.people.erase(gone, "please")
            self.moments.forget(fact.id for fact in facts)
            words = {word for fact in facts for word in WORD.findall(fact.content)}
            assert fact_rules.words_left(self.memory, [gone.title(), *words]) == []
        assert gone not in [person.user_id for person in self.memory.people.list()]
        assert (self.memory.facts.list(gone), fact_rules.state(self.memory, [other])) == ((), before)

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
        self.moments.add()
        return undoing

    def _bring_back(self, undoing: str) -> str:
        """Undo an undo; its action stands for the first one from now on."""
        brought = self.memory.review.undo(undoing).action_id
        del self.undoings[undoing]
        return brought

    # --- what is there ------------------------------------------------------------------------------------------------

    def _facts(self) -> list[FactView]:
        return [one for user in USERS for one in self.memory.facts.list(user)]

    def _word(self) -> str:
        """Return a word that nothing else has."""
        self._words += 1
        return f"zq{chr(97 + self._words // 16)}{chr(97 + self._words % 16)}q"

    def _why(self, words: str) -> str:
        """Return a reason with the word that only what it is about has."""
        return " ".join(["So it was said", *WORD.findall(words)])

    def _until(self, number: int) -> str:
        """Return a time to come: soon, if time passes here."""
        if self.clock is None or number % 2:
            return f"29{10 + number % 90}"
        return (self.clock.now() + timedelta(days=1 + number % 4)).isoformat()

    def _judge_as(self, number: int) -> None:
        sure = number // len(RELATIONS) % 3 != 0
        self._verdict = (RELATIONS[number % len(RELATIONS)], sure, number % 7 == 1)

    def _judged(self, asked: Asked) -> dict[str, Any]:
        relation, sure, keeps = self._verdict
        meeting = consolidate.read(asked.text)
        known = [one.label for one in meeting.known]
        name = next(name for name in ("Quill", "Ben", "Mia") if any(name in one.content for one in meeting.new))
        found = {
            "relation": relation if known else "none",
            "known": known[:1],
            "merged": f"Tea is what {name} likes, at noon too" if relation == "complementary" else "",
            "keep": f"Tea is there for {name}" if keeps and relation in ("update", "conflict") else "",
            "sure": sure,
            "why": "So it is.",
        }
        return {"verdicts": [{"new": one.label, **found} for one in meeting.new]}


def _text(number: int, user: str | None) -> str:
    """Return a statement about a user, whose name is in it."""
    return TEXTS[number % len(TEXTS)].replace("Mia", (user or "").title())
