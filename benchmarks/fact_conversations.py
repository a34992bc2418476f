"""Long conversations over months, with a list of what is true in them: drawn, ended, corrected, and what is no fact at all.

They were written by several hands that had not seen the rules: `look_*.json` to look at while rules are written, `measure_*` to
measure with. Each is remembered sitting by sitting, without a model.
A fact is drawn when a remembered one holds one word of each of its `keys`. One that ended is recognised when a fact that says so
and was drawn from where it was said is outdated at the end, proposed when it is put to a person. What was never true is put right
when no active fact of its message says it. What is no fact (a wish, irony, somebody else's) is drawn when a fact of its message
holds its keys.
Each question is then asked of `recall`, and of `search` with `newest_first`. A hit answers it when it was drawn from where the
answer was said, holds one of its keys, and all of them stand in it or in the messages it is from; of a passage it is enough that
it covers such a message. What is outdated is known in the same way, and should stand below.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.frame import ROOT, Size, figure, quiet
from memoir_engine import Memory

FEATURES = ("facts",)
TITLE = "Long conversations without a model: what is drawn, what has ended, what is no fact"
FOLDER = ROOT / "benchmarks" / "conversations"
SMALL = 1  # conversations
APART = timedelta(hours=3)  # of two messages in different sittings
HITS = 10
AIMS = {
    **{"drawn": 0.85, "ended, recognised or proposed": 0.50, "no fact, but drawn": 0.15},
    **{"recall, answer first": 0.60, "recall, answer among three": 0.80, "recall, newer above older": 0.85},
    "search newest first, newer above older": 0.80,
}


@dataclass(frozen=True)
class Conversation:
    """A conversation with its gold list. half: the file's first word, look or measure."""

    half: str
    lang: str
    user: str
    messages: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    no_facts: list[dict[str, Any]]
    questions: list[dict[str, Any]]

    def sittings(self) -> Iterator[list[dict[str, Any]]]:
        sitting: list[dict[str, Any]] = []
        for message in self.messages:
            if sitting and _moment(message) - _moment(sitting[-1]) > APART:
                yield sitting
                sitting = []
            sitting.append(message)
        yield sitting


@dataclass(frozen=True)
class Found:
    """What became of one row of the gold list. hits: the sentences that matched it."""

    kind: str
    row: dict[str, Any]
    hit: bool
    hits: tuple[str, ...] = ()


@quiet()
def main(size: Size = "full") -> dict[str, Any]:
    listed = load()[: SMALL if size == "small" else None]
    by_name: dict[str, list[Found]] = {}
    for conversation in listed:
        by_name.setdefault(f"{conversation.half} {conversation.lang}", []).extend(judged(conversation))
    figures = [made for name, found in sorted(by_name.items()) for made in _figures(name, found)]
    messages = sum(len(conversation.messages) for conversation in listed)
    return {"title": TITLE, "sizes": {"conversations": len(listed), "messages": messages}, "figures": figures}


def load(named: str = "*") -> list[Conversation]:
    listed = []
    for path in sorted(FOLDER.glob(f"{named}.json")):
        read = json.loads(path.read_text(encoding="utf-8"))
        fields = {key: read[key] for key in ("lang", "user", "messages", "facts", "no_facts", "questions")}
        listed.append(Conversation(path.stem.split("_")[0], **fields))
    return listed


def judged(conversation: Conversation) -> list[Found]:
    """Remember a conversation in a new memory and compare what is known with its gold list."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory(db_path=folder / "facts.db", data_dir=folder / "data", model="offline") as memory:
            remember(memory, conversation)
            known = memory.facts.list(conversation.user, limit=1_000)
            proposed = {fact.id for one in memory.facts.proposals(conversation.user) for fact in one.old}
            asked = [*_recalled(memory, conversation), *_searched(memory, conversation)]
    found = [_drawn(row, known) for row in conversation.facts if not row.get("never_true")]
    for row in conversation.facts:
        if row.get("never_true"):
            said = [fact.content for fact in _said(row, known) if fact.status == "active"]
            found.append(Found("corrected", row, not said, tuple(said)))
        elif row.get("ended_by"):
            found += _ended(row, _said(row, known), proposed)
        else:
            outdated = tuple(fact.content for fact in _said(row, known) if fact.status == "outdated" and fact.cause != "merged")
            found.append(Found("still so", row, not outdated, outdated))
    wrong = [(row, _said(row, known)) for row in conversation.no_facts]
    found += [Found("no fact", row, bool(hits), tuple(fact.content for fact in hits)) for row, hits in wrong]
    return found + asked


def remember(memory: Memory, conversation: Conversation) -> None:
    for sitting in conversation.sittings():
        told = [{"id": one["id"], "role": one["role"], "content": one["text"], "at": one["at"]} for one in sitting]
        memory.remember(told, user_id=conversation.user)


def _recalled(memory: Memory, conversation: Conversation) -> Iterator[Found]:
    texts = {message["id"]: message["text"] for message in conversation.messages}
    rows = {row["id"]: row for row in conversation.facts}
    for question in conversation.questions:
        hits = memory.recall(question["question"], user_id=conversation.user, limit=HITS)
        told = tuple(hit.content for hit in hits)

        def place(named: Sequence[str], hits: Sequence[Any] = hits) -> int:
            return next((at for at, hit in enumerate(hits) if any(_answers(hit.fact, rows[each], texts) for each in named)), HITS)

        right, outdated = place(question["answer"]), place(question["outdated"])
        row = {**question, "text": question["question"], "said_in": question["answer"]}
        yield Found("recall, answer first", row, right == 0, told)
        yield Found("recall, answer among three", row, right < 3, told)
        if min(right, outdated) < HITS and question["outdated"]:
            yield Found("recall, newer above older", row, right < outdated, told)


def _answers(fact: Any, row: dict[str, Any], texts: dict[str, str]) -> bool:
    places = [origin.message_id for origin in fact.origins if origin.message_id in row["said_in"]]
    whole = " ".join([fact.content, *(texts[place] for place in places)])
    return bool(places) and holds(whole, row["keys"]) and any(holds(fact.content, [words]) for words in row["keys"])


def _searched(memory: Memory, conversation: Conversation) -> Iterator[Found]:
    rows = {row["id"]: row for row in conversation.facts}
    own = memory.acting_as("reader", user=conversation.user)
    ids = {
        (each.session_id, message.n): message.id
        for each in own.sessions.list()
        for message in own.sessions.get_session_history(each.session_id)
    }
    for question in (each for each in conversation.questions if each["outdated"]):
        hits = own.search(question["question"], top_k=HITS, newest_first=True)
        covered = [{ids[hit.session_id, n] for n in hit.message_ids} if hit.session_id else set() for hit in hits]

        def place(named: Sequence[str], covered: Sequence[set[str | None]] = covered) -> int:
            wanted = {place for each in named for place in rows[each]["said_in"]}
            return next((at for at, places in enumerate(covered) if places & wanted), HITS)

        right, outdated = place(question["answer"]), place(question["outdated"])
        if min(right, outdated) < HITS:
            row = {**question, "text": question["question"], "said_in": question["answer"]}
            yield Found("search newest first, newer above older", row, right <= outdated, tuple(hit.text for hit in hits))


def holds(text: str, keys: Sequence[Sequence[str]]) -> bool:
    """Return True if a text has one word of each list, in any case."""
    plain = text.casefold()
    return all(any(word.casefold() in plain for word in words) for words in keys)


def _drawn(row: dict[str, Any], known: Sequence[Any]) -> Found:
    hits = tuple(fact.content for fact in known if holds(fact.content, row["keys"]))
    return Found("drawn", row, bool(hits), hits)


def _ended(row: dict[str, Any], said: Sequence[Any], proposed: set[str]) -> Iterator[Found]:
    outdated = tuple(fact.content for fact in said if fact.status == "outdated")
    asked = tuple(fact.content for fact in said if fact.id in proposed)
    yield Found("ended, recognised", row, bool(outdated), outdated)
    yield Found("ended, recognised or proposed", row, bool(outdated or asked), outdated or asked)


def _said(row: dict[str, Any], known: Sequence[Any]) -> list[Any]:
    """Return the facts that say a row and were drawn from where it was said."""
    places = {row["said_in"]} if isinstance(row["said_in"], str) else set(row["said_in"])
    there = [fact for fact in known if any(origin.message_id in places for origin in fact.origins)]
    return [fact for fact in there if holds(fact.content, row["keys"])]


def _moment(message: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(message["at"])


def _figures(name: str, found: Sequence[Found]) -> Iterator[dict[str, Any]]:
    named = {"no fact": "no fact, but drawn", "still so": "still so, but outdated", "corrected": "corrected, the wrong one gone"}
    for kind in dict.fromkeys(one.kind for one in found):
        listed = [one.hit != (kind == "still so") for one in found if one.kind == kind]
        what = named.get(kind, kind)
        worse = kind in ("no fact", "still so")
        share = round(sum(listed) / len(listed), 4)
        note = f"of {len(listed)}"
        yield figure(f"{name}: {what}", [share], "share", aim=AIMS.get(what), better="lower" if worse else "higher", note=note)


def _list(named: str) -> None:
    """Print what became of each row, for those who write rules."""
    for conversation in load(named):
        for one in judged(conversation):
            if one.hit == (one.kind in ("no fact", "still so")):
                continue
            print(f"{one.kind:30} {one.row.get('id', '')} {one.row['text']} {one.row['said_in']} {one.row.get('ended_by')}")


if __name__ == "__main__":
    import sys

    _list(sys.argv[1])
