"""What every action and every event is called, in one table.

Invariant: each verb and each kind of event that the store writes has its words here; a test holds it complete. Names come in as
plain text and go out as plain text: whoever draws them escapes them.
Source: DESIGN §6, §8 (an event is a fact with numbers, the sentence is made here).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memoir_engine.core.results import Change
from memoir_engine.core.results.documents import Path
from memoir_engine.core.results.evidence import Tally

# === fact_words: What actions and events about facts and cuts are called; a part of the table of `words`.
#
# Source: DESIGN §6, §8.


FACT_VERBS: dict[str, str] = {
    "remember": "Remembered a conversation",
    "restore_fact": "Brought a fact back into force",
    "approve_fact": "Agreed that a fact gave way",
    "reject_fact": "Refused that a fact gives way",
    "forget_fact": "Forgot a fact",
    "confirm_fact": "Approved a fact",
    "withdraw_fact": "Rejected a fact",
    "skip_fact": "Skipped a fact",
}

# kind → one, many
FACT_KINDS: dict[str, tuple[str, str]] = {
    "cuts.recorded": ("a conversation is cut into {parts}", "{count} conversations are cut"),
    "cuts.withdrawn": ("a conversation counts as not remembered", "{count} conversations count as not remembered"),
    "cuts.returned": ("a conversation counts as remembered again", "{count} conversations count as remembered again"),
    "conversation.seen_again": ("a remembered conversation came again", "{count} remembered conversations came again"),
    "fact.recorded": ("fact {fact} is learned", "{count} facts are learned"),
    "fact.outdated": ("fact {fact} is outdated", "{count} facts are outdated"),
    "fact.restored": ("fact {fact} holds again", "{count} facts hold again"),
    "fact.withdrawn": ("fact {fact} is taken back", "{count} facts are taken back"),
    "fact.returned": ("fact {fact} stands again", "{count} facts stand again"),
    "fact.forgotten": ("fact {fact} is forgotten for good", "{count} facts are forgotten for good"),
    "fact.seen": ("fact {fact} was said again", "{count} known facts were said again"),
    "fact.unseen": ("that fact {fact} was said again is taken back", "{count} facts count as not said again"),
    "fact.seen_again": ("that fact {fact} was said again holds again", "{count} facts count as said again"),
    "fact.related": ("two facts have to do with one another", "{count} pairs of facts are related"),
    "fact.unrelated": ("two facts are no longer related", "{count} pairs of facts are no longer related"),
    "fact.related_again": ("two facts are related again", "{count} pairs of facts are related again"),
    "fact.proposed": ("a person is asked whether a fact gives way", "{count} facts are put to a person"),
    "fact.settled": ("it is settled whether a fact gives way", "{count} questions about facts are settled"),
    "fact.reviewed": ("a fact is reviewed", "{count} facts are reviewed"),
    "fact.unproposed": ("a question about a fact is taken back", "{count} questions about facts are taken back"),
}


# === words


VERBS: dict[str, str] = {
    "ingest": "Ingested",
    "add_knowledge": "Added knowledge",
    "withdraw": "Withdrew a source",
    "erase": "Erased a source",
    "set_helper": "Wrote a contextual helper",
    "regenerate_helper": "Had a contextual helper drawn anew",
    "refile": "Re-filed a chunk",
    "refile_many": "Re-filed chunks",
    "create": "Made a category",
    "rename": "Renamed a category",
    "move": "Moved a category",
    "merge": "Merged categories",
    "split": "Split a category",
    "retire": "Retired a category",
    "approve": "Approved a filing",
    "reject": "Rejected a filing",
    "skip": "Skipped a filing",
    "sign_off": "Signed off",
    "converse": "Said something",
    "open_session": "Opened a conversation",
    "limit_session": "Set how much of a conversation is kept",
    "clear_session": "Cleared a conversation",
    "remove_graph_states": "Removed states of graphs",
    "undo": "Undid an action",
    "close": "Ended a run",
    **FACT_VERBS,
}


@dataclass(frozen=True)
class Words:
    """How one event is said, and many alike. Fields in braces: source, category, chunk, count and whatever the body holds."""

    one: str
    many: str


KINDS: dict[str, Words] = {
    "source.added": Words("{source} is stored", "{count} sources are stored"),
    "source.withdrawn": Words("{source} leaves the tree with {filings}", "{count} sources leave the tree"),
    "source.replaced": Words("{source} gives way to its newer version", "{count} sources give way to newer versions"),
    "source.restored": Words("{source} returns to the tree with {filings}", "{count} sources return to the tree"),
    "source.erased": Words("{source} is erased for good", "{count} sources are erased for good"),
    "chunks.added": Words("{source} is cut into {chunks}", "{count} sources are cut into chunks"),
    "helper.set": Words("version {version} of the helper of {source} is written", "{count} helpers are written"),
    "helper.chosen": Words("version {version} of the helper of {source} is in force", "{count} helpers change"),
    "category.created": Words("{category} is made", "{count} categories are made"),
    "category.closed": Words("{category} closes", "{count} categories close"),
    "category.reopened": Words("{category} opens again", "{count} categories open again"),
    "category.renamed": Words("a category gets another name", "{count} categories get other names"),
    "category.moved": Words("a category moves", "{count} categories move"),
    "category.merged": Words("a category becomes one with another", "{count} categories become one with others"),
    "category.restored": Words("{category} is what it was before", "{count} categories are what they were before"),
    "chunk.filed": Words("{chunk} is filed", "{count} chunks are filed"),
    "chunk.refiled": Words("{chunk} is filed anew", "{count} chunks are filed anew"),
    "chunk.rejected": Words("{chunk} is taken out of its place", "{count} chunks are taken out of their places"),
    "chunk.returned": Words("{chunk} is filed again", "{count} chunks are filed again"),
    "filing.reviewed": Words("the filing of {chunk} is reviewed", "{count} filings are reviewed"),
    "sign_off.made": Words("{subject} is signed", "{count} signatures are given"),
    "sign_off.withdrawn": Words("the signature under {subject} is withdrawn", "{count} signatures are withdrawn"),
    "sign_off.restored": Words("the signature under {subject} stands again", "{count} signatures stand again"),
    "session.opened": Words("a conversation is opened", "{count} conversations are opened"),
    "session.said": Words("a turn of {messages}", "{count} turns of a conversation"),
    "session.trimmed": Words("the oldest messages give way to the limit", "{count} times the oldest messages give way"),
    "session.limited": Words("what is kept of a conversation is set", "{count} conversations get another limit"),
    "session.cleared": Words("a conversation is cleared", "{count} conversations are cleared"),
    "checkpoints.removed": Words("states of graphs are removed", "{count} times states of graphs are removed"),
    "run.closed": Words("the run ends: {status}", "{count} runs end"),
    **{kind: Words(*both) for kind, both in FACT_KINDS.items()},
}


@dataclass(frozen=True)
class Names:
    """What ids are called: sources by name, categories by path, chunks by their source and number in it."""

    sources: Mapping[int, str] = field(default_factory=dict)
    categories: Mapping[int, Path] = field(default_factory=dict)
    chunks: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def source(self, number: object) -> str:
        return self.sources.get(number, "a source") if isinstance(number, int) else "a source"

    def category(self, number: object) -> str:
        path = self.categories.get(number) if isinstance(number, int) else None
        return path_of(path) if path else "a category"

    def chunk(self, number: object) -> str:
        found = self.chunks.get(number) if isinstance(number, int) else None
        return f"chunk {found[1] + 1} of {self.source(found[0])}" if found else f"chunk {number}"


def verb(name: str) -> str:
    """In words; a verb without any is said as it is."""
    return VERBS.get(name) or name.replace("_", " ").capitalize()


def changes(tallies: Iterable[Tally], names: Names, more: int = 0) -> tuple[Change, ...]:
    """What an action did, one line for many events alike. `more` events are not among them."""
    told = tuple(_change(one, names) for one in tallies)
    return (*told, Change(kind="", says=f"and {more} more events", count=more)) if more else told


def path_of(names: Iterable[str]) -> str:
    return " › ".join(names)


def _change(tally: Tally, names: Names) -> Change:
    body = tally.event.body
    says = _says(tally, names)
    before, after = (None if told and told in says else told for told in _before_after(tally, names))
    return Change(
        kind=tally.event.kind,
        says=says,
        before=before,
        after=after,
        count=tally.count,
        source_id=_number(body, "source") or (_number(body, "number") if body.get("subject") == "source" else None),
        category_id=_number(body, "category") or (_number(body, "number") if body.get("subject") == "category" else None),
        chunk_id=_number(body, "chunk") if tally.count == 1 else None,
    )


def _says(tally: Tally, names: Names) -> str:
    event, body = tally.event, tally.event.body
    words = KINDS.get(event.kind)
    if words is None:
        return f"{tally.count} × {event.kind}"
    if tally.count > 1:
        return words.many.format(count=tally.count)
    known = _Known({name: value for name, value in body.items() if isinstance(value, str | int)})
    known |= {"parts": _count(body.get("count"), "part")}
    known |= {"messages": _count(body.get("count"), "message")}
    known |= {"chunks": _count(body.get("count"), "chunk"), "filings": _count(body.get("filings"), "filing")}
    known |= {"source": names.source(body.get("source")), "chunk": names.chunk(body.get("chunk"))}
    known |= {"category": names.category(body.get("category")), "subject": _subject(body, names)}
    return words.one.format_map(known)


def _count(number: object, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "…"


def _subject(body: dict[str, Any], names: Names) -> str:
    of = names.source if body.get("subject") == "source" else names.category
    return of(body.get("number"))


def _before_after(tally: Tally, names: Names) -> tuple[str | None, str | None]:
    body, told = tally.event.body, tally.event.payload or {}
    if "before" in told or "after" in told:
        return _told(told.get("before")), _told(told.get("after"))
    if "statement" in told:
        return None, _told(told["statement"])
    match tally.event.kind:
        case "chunk.refiled" if tally.count == 1:
            return names.category(body.get("was")), names.category(body.get("category"))
        case "chunk.filed" | "chunk.returned" if tally.count == 1:
            return None, names.category(body.get("category"))
        case "filing.reviewed":
            before = body.get("before")
            return (str(before[0]) if isinstance(before, list) and before and before[0] else None), _told(body.get("verdict"))
        case "helper.set" | "helper.chosen":
            was = body.get("was")
            return (None if was is None else f"version {was}"), f"version {body.get('version')}"
    return None, None


def _told(value: object) -> str | None:
    if value is None:
        return None
    return path_of(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


def _number(body: dict[str, Any], key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) else None
