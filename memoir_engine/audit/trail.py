"""The audit as people look through it: filtered, in words, and taken along as a file.

Invariant: reads only; filters are SQL, words are made from a table that a test holds complete. What was done is everybody's to
see; the reason of what was done to somebody's facts or conversations is theirs, and an admin's.
Source: API "The ledger and the audit"; DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import chain as joined
from typing import Any, Literal

from memoir_engine.audit import report_record
from memoir_engine.core import event_words, validation
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results import Action, AuditCheck, AuditEvent, AuditHead
from memoir_engine.core.results.evidence import Tally
from memoir_engine.runtime.access import any_of
from memoir_engine.runtime.view import View
from memoir_engine.store.chain import actions
from memoir_engine.store.db.types import Tx
from memoir_engine.store.events import activity
from memoir_engine.store.events.activity import Wanted
from memoir_engine.store.verification import verify


class AuditView(View):
    """The chain: who changed what, when and why, and whether the record was touched."""

    def head(self) -> AuditHead:
        """The last link, to be noted elsewhere."""
        return self._read(actions.head)

    def verify(
        self,
        expected_head: str | AuditHead | None = None,
        *,
        links_only: bool = False,
        on_progress: Callable[[float], None] | None = None,
    ) -> AuditCheck:
        """Check the chain, the digests of every row that holds evidence, and that replay gives what stands now.

        expected_head: a head noted elsewhere, which must be in the history. links_only: the chain alone, which is quick.
        on_progress: called with the part of the work that is done, from 0 to 1; some of its steps are long. What it raises ends
        the verification, and is raised.
        Raises InvalidSetting for what is no head.
        """
        noted = expected_head.hash if isinstance(expected_head, AuditHead) else expected_head
        expected = None if noted is None else validation.head("expected_head", noted)
        told = None if on_progress is None else validation.function("on_progress", on_progress)
        only = validation.flag("links_only", links_only)
        return verify(self._engine.db, expected_head=expected, links_only=only, progress=told)

    def events(self, limit: int = 100, before: int | None = None, action_id: str | None = None) -> tuple[AuditEvent, ...]:
        """Newest first."""
        most, below = validation.limit(limit), None if before is None else validation.cursor("before", before)
        of = None if action_id is None else validation.action(action_id)
        return self._read(lambda tx: actions.events(tx, limit=most, before=below, action_id=of))


# === auditing


AT_ONCE = 500  # actions read together for an export


class AuditTrail(AuditView):
    """Who did what, when and why; and whether the record was touched."""

    def actions(
        self,
        limit: int = 50,
        before: str | None = None,
        *,
        actor: str | None = None,
        verb: str | None = None,
        kind: str | None = None,
        source: int | None = None,
        category: int | None = None,
        run: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        text: str | None = None,
        but: Sequence[str] = (),
    ) -> tuple[Action, ...]:
        """Newest first, with what each did in words and without its events; below the action `before`.

        kind: of one of its events. source, category: what the action touched there or below. since: from then on, until: before
        then, both with a time zone. text: part of the reason. but: verbs to leave out. Reasons about facts and conversations of
        others are None, and not searched.
        """
        wanted = _wanted(actor, verb, kind, source, category, run, since, until, text, but)
        most = validation.limit(limit)
        after = None if before is None else validation.action(before, "before")
        return self._read(lambda tx: _page(tx, wanted, after, most, any_of(self._actor)))

    def action(self, action_id: str) -> Action:
        """One action with its events, and in words. Raises ActionNotFound."""
        wanted, whose = validation.action(action_id), any_of(self._actor)
        return self._read(lambda tx: with_words(tx, activity.veiled(tx, whose, [actions.get(tx, wanted)]))[0])

    def actors(self) -> tuple[str, ...]:
        """Everybody who has ever acted, by name."""
        return self._read(activity.actors)

    def verbs(self) -> tuple[str, ...]:
        """What has ever been done."""
        return self._read(activity.verbs)

    def words(self, verb: str) -> str:
        """What a verb is called."""
        return event_words.verb(validation.text("verb", verb))

    def export(
        self,
        format: Literal["csv", "json"] = "json",
        *,
        actor: str | None = None,
        verb: str | None = None,
        kind: str | None = None,
        source: int | None = None,
        category: int | None = None,
        run: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        text: str | None = None,
        but: Sequence[str] = (),
    ) -> str:
        """All that passes the filters of `actions`: a table no spreadsheet takes for formulas, or JSON with every event."""
        if format not in ("csv", "json"):
            raise InvalidSetting(name="format", value=format, problem="there is no such format", advice="Use csv or json.")
        wanted = _wanted(actor, verb, kind, source, category, run, since, until, text, but)
        return "".join(_table(self._every(wanted)) if format == "csv" else _document(self, wanted))

    def _every(self, wanted: Wanted) -> Iterator[tuple[Action, ...]]:
        """Page by page, with events; what is done meanwhile comes before the first page and is not among them."""
        before: str | None = None
        whose = any_of(self._actor)
        while found := self._read(lambda tx, last=before: _whole_page(tx, wanted, last, whose)):  # type: ignore[misc]  # a default
            yield found
            before = found[-1].action_id


def _page(tx: Tx, wanted: Wanted, before: str | None, limit: int, whose: str | None) -> tuple[Action, ...]:
    return with_words(tx, activity.page(tx, wanted, before=before, limit=limit, whose=whose))


def _whole_page(tx: Tx, wanted: Wanted, before: str | None, whose: str | None) -> tuple[Action, ...]:
    return activity.with_events(tx, _page(tx, wanted, before, AT_ONCE, whose))


def with_words(tx: Tx, actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions with what each of them did."""
    did = activity.tallies(tx, [one.action_id for one in actions])
    found = [tally for tallies, _ in did.values() for tally in tallies]
    names = event_words.Names(
        *activity.names(
            tx,
            sources=_ids(found, "source", subject="source"),
            categories=[*_ids(found, "category", subject="category"), *_ids(found, "was")],
            chunks=_ids(found, "chunk"),
        )
    )
    return tuple(
        replace(one, changes=event_words.changes(*_did(did, one, names)), says=event_words.verb(one.verb)) for one in actions
    )


def _did(did: dict[str, Any], action: Action, names: Any) -> tuple[Any, Any, int]:
    tallies, more = did.get(action.action_id, ((), 0))
    return tallies, names, more


def _ids(tallies: Iterable[Tally], key: str, subject: str = "") -> list[int]:
    bodies = [tally.event.body for tally in tallies]
    signed = (body.get("number") for body in bodies if subject and body.get("subject") == subject)
    return [number for number in joined((body.get(key) for body in bodies), signed) if isinstance(number, int)]


def _table(pages: Iterable[tuple[Action, ...]]) -> Iterator[str]:
    yield report_record.head_line()
    for found in pages:
        yield report_record.lines(found)


def _document(view: AuditTrail, wanted: Wanted) -> Iterator[str]:
    """Written piece by piece: a history may be long."""
    head = view.head()
    asked = {name: report_record.stamp(value) if isinstance(value, datetime) else value for name, value in asdict(wanted).items()}
    told = {"head": {"seq": head.seq, "hash": head.hash, "at": report_record.stamp(head.at)}, "filters": asked}
    yield f'{{"format": {report_record.text_of(report_record.ACTIVITY_FORMAT)}, {report_record.text_of(told)[1:-1]}, "actions": ['
    separator = "\n"
    for found in view._every(wanted):
        for action in found:
            yield separator + report_record.text_of(report_record.item(action))
            separator = ",\n"
    yield "\n]}\n"


def _wanted(
    actor: str | None,
    verb: str | None,
    kind: str | None,
    source: int | None,
    category: int | None,
    run: str | None,
    since: datetime | None,
    until: datetime | None,
    text: str | None,
    but: Sequence[str],
) -> Wanted:
    return Wanted(
        actor=None if actor is None else validation.text("actor", actor),
        verb=None if verb is None else validation.text("verb", verb),
        kind=None if kind is None else validation.text("kind", kind),
        source=None if source is None else validation.source(source),
        category=None if category is None else validation.category(category),
        run=None if run is None else validation.run(run),
        since=None if since is None else _time("since", since),
        until=None if until is None else _time("until", until),
        text=None if text is None else validation.text("text", text),
        but=validation.texts("but", but),
    )


def _time(name: str, value: object) -> datetime:
    found = validation.moment(name, value)
    if isinstance(found, datetime):
        return found
    raise InvalidSetting(name=name, value=value, problem="it is no time", advice="Give a datetime with a time zone.")
