"""The view of conversations that takes them along: to a file, and from one.

Invariant: an import stores all of its messages or none, in one turn; with a dry run it reads everything and stores nothing.
Source: SESSION 6; API "Sessions and the agent".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from memoir_engine import given, spoken
from memoir_engine.conversing import SessionsSaid
from memoir_engine.errors import HistoryRefused, InvalidSetting
from memoir_engine.results import ImportReport

if TYPE_CHECKING:
    from memoir_engine.sessions.told import Incoming
    from memoir_engine.store.types import Tx
    from memoir_engine.text.messages import Message


class SessionsCarried(SessionsSaid):
    """Conversations, taken along."""

    def export_session(self, session_id: str) -> str:
        """JSON: the session's id and times, and its messages as LangChain writes them, each with its time (SESSION 6.1, 6.2).

        Raises SessionNotFound.
        """
        from memoir_engine.sessions import told
        from memoir_engine.store import said

        named = spoken.session(session_id)

        def work(tx: Tx) -> str:
            view = self._view(tx, named)
            row = said.find(tx, self._user, named)
            return told.told(view, [said.as_message(one) for one in said.of_session(tx, row)])

        return self._read(work)

    def import_session(self, data: str | bytes | Any, session_id: str | None = None, *, dry_run: bool = False) -> ImportReport:
        """Read a conversation into a new session or one that is there, which gets the messages whose ids it lacks (SESSION 6.3).

        data: what `export_session` wrote, a list of messages as LangChain or OpenAI writes them, a transcript with lines like
        `Name: text`, or an export with one conversation; text or parsed.
        session_id: None is the id in the data where nobody has it yet, else a new one. dry_run: what would come and what is
        refused, and nothing is stored. Raises HistoryRefused (E804) naming the first record and why, FormatUnknown.
        """
        wanted = None if session_id is None else spoken.session(session_id)
        found, tries = _read(data), given.flag("dry_run", dry_run)
        named = wanted or self._free(found.session_id)
        report = self._looked(named, found, tries)
        if tries:
            return report
        if found.refused:
            first = found.refused[0]
            told = {"count": len(found.refused), "records": found.records, "where": first.where, "problem": first.problem}
            raise HistoryRefused(**told)
        self._take_in(named, found)
        return report

    def import_sessions(self, data: str | bytes | Any, *, dry_run: bool = False) -> tuple[ImportReport, ...]:
        """Every conversation of an export (ChatGPT's, Claude's, LoCoMo, …) into a session of its own, known by what it holds.

        A conversation that was imported before gets the messages its session lacks. Each is stored whole or not at all; where
        one holds a record that is no message, none is stored. Raises HistoryRefused (E804), FormatUnknown.
        """
        found, tries = _read_all(data), given.flag("dry_run", dry_run)
        named = [self._named(one) for one in found]
        reports = tuple(self._looked(name, one, tries) for name, one in zip(named, found, strict=True))
        if tries:
            return reports
        refused = [one for report in reports for one in report.refused]
        if refused:
            told = {"count": len(refused), "records": sum(one.records for one in found)}
            raise HistoryRefused(**told, where=refused[0].where, problem=refused[0].problem)
        for name, one in zip(named, found, strict=True):
            self._take_in(name, one)
        return reports

    def _named(self, found: Incoming) -> str:
        """By its own id, so that the same export finds its sessions again."""
        told = found.session_id
        return self._new_id() if told is None or len(told) > spoken.SESSION_CHARS else told

    def _free(self, named: str | None) -> str:
        from memoir_engine.store import said

        if named is None or len(named) > spoken.SESSION_CHARS:
            return self._new_id()
        row = self._read(lambda tx: said.find(tx, self._user, named))
        return named if row is None or not row.messages else self._new_id()

    def _looked(self, named: str, found: Incoming, dry_run: bool) -> ImportReport:
        from memoir_engine.store import said

        row = self._read(lambda tx: said.find(tx, self._user, named))
        coming = self._read(lambda tx: _lacking(tx, row, found.messages))
        times = sorted(one.at for one in coming if one.at is not None)
        return ImportReport(
            session_id=named,
            is_new=row is None,
            format=found.format,
            records=found.records,
            added=len(coming),
            known=len(found.messages) - len(coming),
            refused=found.refused,
            dry_run=dry_run,
            first_at=times[0] if times else None,
            last_at=times[-1] if times else None,
            notes=found.notes,
        )

    def _take_in(self, named: str, found: Incoming) -> None:
        from memoir_engine.store import conversations

        engine, actor, action_id = self._engine, self._actor, self._new_id()
        most = engine.resolved.config.session.max_messages
        how: dict[str, Any] = {"actor": actor.name, "clock": engine.clock, "action_id": action_id, "metadata": found.metadata}

        def write(tx: Tx) -> None:
            if not found.messages:  # a session in which nothing was said yet
                conversations.open_session(tx, actor.user, named, **how)
                return
            only_new = partial(_lacking, messages=found.messages)
            conversations.append(tx, actor.user, named, (), most=most, only_new=only_new, **how)

        engine.db.write(write, operation="the import of a conversation")


def _lacking(tx: Tx, row: Any, messages: Sequence[Message]) -> Sequence[Message]:
    from memoir_engine.sessions import told
    from memoir_engine.store import said
    from memoir_engine.text.messages import in_time

    known = () if row is None else [said.as_message(one) for one in said.of_session(tx, row)]
    return in_time(told.lacking(messages, known))


def _read(data: object) -> Incoming:
    """Raises FormatUnknown, InvalidSetting."""
    from memoir_engine.sessions import formats

    return _writable(formats.read(_text(data)))


def _read_all(data: object) -> tuple[Incoming, ...]:
    from memoir_engine.sessions import formats

    return tuple(map(_writable, formats.read_all(_text(data))))


def _writable(found: Incoming) -> Incoming:
    """What stands around the messages is refused like one of them, where no database can hold it."""
    from memoir_engine.results import RefusedMessage

    refused = []
    for name, value in (("session_id", found.session_id), ("metadata", found.metadata)):
        try:
            if isinstance(value, str):
                given.text(name, value)
            elif value is not None:
                given.metadata(value)
        except InvalidSetting as wrong:
            refused.append(RefusedMessage(name, str(wrong.facts["problem"])))
    if not refused:
        return found
    return replace(found, refused=(*refused, *found.refused), session_id=None, metadata=None)


def _text(data: object) -> object:
    if not isinstance(data, bytes | bytearray | memoryview):
        return data
    try:
        return bytes(data).decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        problem, advice = f"byte {wrong.start} is no UTF-8", "Save the file as UTF-8 and try again."
        raise InvalidSetting(name="data", value="…", problem=problem, advice=advice) from None
