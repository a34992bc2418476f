"""`memory.sessions`: conversations opened, read, extended, imported, exported, limited and cleared.

Invariants: a session belongs to the user whom the view is for, and each read and write below says so: another's session answers
like a missing one. Everybody may speak; whoever has a session may limit and clear it, for one that is nobody's it takes a role.
An import stores all of its messages or none, in one turn; a dry run reads everything and stores nothing. What a limit would drop
is previewed by the very rule that drops it.
Source: SESSION 1, 3, 5, 6; MEMOLLA F-01; API "Sessions and the agent"; DESIGN §6 (who and whose); spec README, 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from memoir_engine.conversations import importers, transfer
from memoir_engine.conversations.transfer import ParsedConversation
from memoir_engine.core import validation
from memoir_engine.core.errors import HistoryRefused, InvalidSetting, NotAllowed, SessionNotFound
from memoir_engine.core.results import Cleared, ImportReport, MessageRecord, RefusedMessage, RetentionPreview, SessionView
from memoir_engine.core.run import new_id
from memoir_engine.runtime import messages as arguments
from memoir_engine.runtime.view import View
from memoir_engine.store.conversations import messages as message_rows
from memoir_engine.store.conversations import retention, sessions
from memoir_engine.store.conversations.retention import dropped
from memoir_engine.store.conversations.sessions import AppendedTurn
from memoir_engine.store.db.types import Tx
from memoir_engine.text.messages import Message, fill_times

MOST_LISTED = 100_000


class SessionsView(View):
    """Conversations of the actor's user: open, read, extend, import, export, limit and clear them."""

    def list_sessions(self) -> tuple[str, ...]:
        """Return the ids of sessions that have not expired, last active first (SESSION 3.1)."""
        return tuple(one.session_id for one in self._listed(MOST_LISTED, None, expired=False))

    def get_session_history(self, session_id: str, after: int = 0, limit: int | None = None) -> tuple[MessageRecord, ...]:
        """Return the messages in order of time (SESSION 3.2, 3.5); empty for an unknown session.

        after: number of the last message already read. LangChain's `messages_from_dict` takes the result as it is.
        """
        named, behind = (
            arguments.session(session_id),
            min(validation.whole("after", after, least=0), arguments.MOST_KEPT),
        )
        most = None if limit is None else validation.limit(limit)
        return self._read(lambda tx: message_rows.history(tx, self._user, named, after=behind, limit=most))

    def get(self, session_id: str) -> SessionView:
        """Return one session. Raises SessionNotFound, also for a session of somebody else."""
        named = arguments.session(session_id)
        return self._read(lambda tx: self._view(tx, named))

    def list(self, limit: int = 100, before: int | None = None, *, expired: bool = False) -> tuple[SessionView, ...]:
        """List sessions, last active first. before: number of the last session of the previous page. expired: include those."""
        most, behind = validation.limit(limit), None if before is None else validation.cursor("before", before)
        found = self._listed(most, behind, expired=validation.flag("expired", expired))
        return self._read(lambda tx: message_rows.with_previews(tx, found))

    def _listed(self, limit: int, before: int | None, *, expired: bool) -> tuple[SessionView, ...]:
        kept, now = self._engine.resolved.config.session, self._engine.clock.now()
        return self._read(
            lambda tx: message_rows.sessions(
                tx,
                self._user,
                now=now,
                timeout_s=kept.session_timeout,
                most=kept.max_messages,
                expired=expired,
                limit=limit,
                before=before,
            )
        )

    @property
    def _user(self) -> str | None:
        return self._actor.user

    def _view(self, tx: Tx, session_id: str) -> SessionView:
        row = message_rows.find(tx, self._user, session_id)
        if row is None or (row.cleared_seq is not None and not row.messages):
            raise SessionNotFound(session_id=session_id)
        kept = self._engine.resolved.config.session
        found = message_rows.view(row, now=self._engine.clock.now(), timeout_s=kept.session_timeout, most=kept.max_messages)
        return message_rows.with_previews(tx, [found])[0]

    def create(
        self,
        session_id: str | None = None,
        *,
        metadata: dict[str, Any] | None = None,
        max_messages: int | None = None,
        session_timeout: float | None = None,
    ) -> SessionView:
        """Open a session, with a new id unless one is given (SESSION 1.1); an existing one stays as it is.

        max_messages, session_timeout (s): for this session, instead of what is configured.
        """
        named = self._new_id() if session_id is None else arguments.session(session_id)
        told = {} if metadata is None else validation.metadata(metadata)
        most, timeout = arguments.most(max_messages), arguments.timeout(session_timeout)
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        engine.db.write(
            lambda tx: sessions.open_session(
                tx,
                actor.user,
                named,
                actor=actor.name,
                clock=engine.clock,
                action_id=action_id,
                metadata=told,
                max_messages=most,
                timeout_s=timeout,
            ),
            operation="a new session",
        )
        return self.get(named)

    def add(
        self,
        session_id: str,
        role: str,
        content: str,
        metadata: dict[str, Any] | None = None,
        ts: datetime | str | None = None,
    ) -> MessageRecord:
        """`memory.add_conversation`."""
        named, message = arguments.said(session_id, role, content, metadata, ts, self._new_id())
        return self._records(named, self._said(named, (message,)), (message,))[0]

    def append(self, session_id: str, messages: Iterable[object], *, run_id: str | None = None) -> tuple[MessageRecord, ...]:
        """Append a turn, all of it or nothing; the session is opened if needed (SESSION 1.3, 1.5).

        messages: records as LangChain or OpenAI writes them, or as `get_session_history` returns them; `at` is the time of one,
        with a zone; one without follows the message before it. run_id: the run that produced the turn. Raises MessageRefused
        naming the record, RunNotFound.
        """
        named, said_by = arguments.session(session_id), arguments.run(run_id)
        coming = fill_times(arguments.messages(messages))
        if not coming:
            return ()
        return self._records(named, self._said(named, coming, said_by), coming)

    def _said(self, session_id: str, messages: tuple[Message, ...], run_id: str | None = None) -> AppendedTurn | None:
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        most = engine.resolved.config.session.max_messages
        return engine.db.write(
            lambda tx: sessions.append(
                tx,
                actor.user,
                session_id,
                messages,
                actor=actor.name,
                clock=engine.clock,
                action_id=action_id,
                most=most,
                run_id=run_id,
            ),
            operation="what was said",
        )

    def _records(self, session_id: str, turn: AppendedTurn | None, messages: tuple[Message, ...]) -> tuple[MessageRecord, ...]:
        """Return the messages as they were written, without reading them again."""
        if turn is None:
            return ()
        return tuple(
            MessageRecord(session_id, turn.first + i, one.kind, one.content, one.at or turn.at, one.id, one.name, one.rest)
            for i, one in enumerate(messages)
        )

    def _new_id(self) -> str:
        return new_id(self._engine.clock.now())

    def export_session(self, session_id: str) -> str:
        """Return JSON with the session's id, times and messages, as LangChain writes them (SESSION 6.1, 6.2).

        Raises SessionNotFound.
        """
        named = arguments.session(session_id)

        def work(tx: Tx) -> str:
            view = self._view(tx, named)
            row = message_rows.find(tx, self._user, named)
            return transfer.session_json(view, [message_rows.as_message(one) for one in message_rows.of_session(tx, row)])

        return self._read(work)

    def import_session(self, data: str | bytes | Any, session_id: str | None = None, *, dry_run: bool = False) -> ImportReport:
        """Read a conversation into a new session, or add to an existing one the messages it lacks (SESSION 6.3).

        data: what `export_session` wrote, a list of messages as LangChain or OpenAI writes them, a transcript with lines like
        `Name: text`, or an export with one conversation; text or parsed.
        session_id: None takes the id in the data if it is free, else a new one. dry_run: report what would be added and refused,
        store nothing. Raises HistoryRefused (E804) naming the first refused record and why, FormatUnknown.
        """
        wanted = None if session_id is None else arguments.session(session_id)
        found, tries = _read(data), validation.flag("dry_run", dry_run)
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
        """Read every conversation of an export (ChatGPT's, Claude's, LoCoMo, …) into a session of its own.

        A conversation imported before gets the messages its session lacks. Each is stored whole or not at all; if one holds an
        invalid record, none is stored. Raises HistoryRefused (E804), FormatUnknown.
        """
        found, tries = _read_all(data), validation.flag("dry_run", dry_run)
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

    def _named(self, found: ParsedConversation) -> str:
        """Return its own id, so that the same export finds its sessions again."""
        told = found.session_id
        return self._new_id() if told is None or len(told) > arguments.SESSION_CHARS else told

    def _free(self, named: str | None) -> str:
        if named is None or len(named) > arguments.SESSION_CHARS:
            return self._new_id()
        row = self._read(lambda tx: message_rows.find(tx, self._user, named))
        return named if row is None or not row.messages else self._new_id()

    def _looked(self, named: str, found: ParsedConversation, dry_run: bool) -> ImportReport:
        row = self._read(lambda tx: message_rows.find(tx, self._user, named))
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

    def _take_in(self, named: str, found: ParsedConversation) -> None:
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        most = engine.resolved.config.session.max_messages
        how: dict[str, Any] = {"actor": actor.name, "clock": engine.clock, "action_id": action_id, "metadata": found.metadata}

        def write(tx: Tx) -> None:
            if not found.messages:  # a session without messages
                sessions.open_session(tx, actor.user, named, **how)
                return
            only_new = partial(_lacking, messages=found.messages)
            sessions.append(tx, actor.user, named, (), most=most, only_new=only_new, **how)

        engine.db.write(write, operation="the import of a conversation")

    def preview_retention(
        self, session_id: str | None = None, *, max_messages: int | None = None, session_timeout: float | None = None
    ) -> tuple[RetentionPreview, ...]:
        """Return what these limits would drop and expire now, by session (SESSION 5); changes nothing.

        session_id: only this one. Sessions that would stay as they are are left out.
        """
        most, timeout = arguments.most(max_messages), arguments.timeout(session_timeout)
        asked = self._listed(MOST_LISTED, None, expired=True) if session_id is None else (self.get(session_id),)
        found = (self._preview(one, most, timeout) for one in asked)
        return tuple(one for one in found if one.dropped or one.would_expire)

    def set_retention(
        self, session_id: str, *, max_messages: int | None = None, session_timeout: float | None = None
    ) -> SessionView:
        """Limit this session from now on; messages over the limit are dropped at once. None: as configured.

        Raises SessionNotFound, and NotAllowed for one that is nobody's.
        """
        self._needs_own("auditor", "limit a session")
        named, most, timeout = (
            self.get(session_id).session_id,
            arguments.most(max_messages),
            arguments.timeout(session_timeout),
        )
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        falls_to = engine.resolved.config.session.max_messages
        engine.db.write(
            lambda tx: retention.limit(
                tx,
                actor.user,
                named,
                max_messages=most,
                timeout_s=timeout,
                falls_to=falls_to,
                actor=actor.name,
                clock=engine.clock,
                action_id=action_id,
                zone=engine.resolved.config.zone,
            ),
            operation="the limit of a session",
        )
        return self.get(named)

    def clear_session(self, session_id: str, reason: str | None = None) -> Cleared:
        """Remove its messages for good from every place that holds them; facts drawn from it stay (SESSION 3.3)."""
        self._needs_own("admin", "clear a session")
        return self._clear((arguments.session(session_id),), reason)

    def clear_all_sessions(self, reason: str | None = None) -> Cleared:
        """Clear every session of this user, expired ones too, and the checkpoints of LangGraph's graphs (SESSION 3.4)."""
        self._needs_own("admin", "clear all sessions")
        return self._clear(None, reason)

    def _clear(self, session_ids: tuple[str, ...] | None, reason: str | None) -> Cleared:
        why = None if reason is None else validation.text("reason", reason)
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        done = engine.db.write(
            lambda tx: retention.clear(
                tx, actor.user, session_ids, actor=actor.name, clock=engine.clock, action_id=action_id, reason=why
            ),
            operation="the clearing of a session",
        )
        if done.action_id is not None:
            engine.db.compact(rows=False)
        return done

    def _preview(self, session: SessionView, most: int | None, timeout: float | None) -> RetentionPreview:
        full = most is not None and session.messages > most  # else nothing is dropped, and nothing need be read
        gone = dropped(self._read(lambda tx: retention.briefs(tx, session.number)), most) if full else ()
        idle_s = (self._engine.clock.now() - session.last_at).total_seconds()
        expires = timeout is not None and idle_s >= timeout
        return RetentionPreview(session.session_id, gone, session.messages - len(gone), expires)

    def _needs_own(self, role: str, verb: str) -> None:
        """Require the role unless the session is the user's own."""
        if self._actor.user is None and role not in self._actor.roles:
            raise NotAllowed(actor=self._actor.name, verb=verb, role=role)


def _lacking(tx: Tx, row: Any, messages: Sequence[Message]) -> Sequence[Message]:
    known = () if row is None else [message_rows.as_message(one) for one in message_rows.of_session(tx, row)]
    return fill_times(transfer.missing_messages(messages, known))


def _read(data: object) -> ParsedConversation:
    return _writable(importers.read(_text(data)))


def _read_all(data: object) -> tuple[ParsedConversation, ...]:
    return tuple(map(_writable, importers.read_all(_text(data))))


def _writable(found: ParsedConversation) -> ParsedConversation:
    """Refuse an id or metadata that no database can hold, like an invalid message."""
    refused = []
    for name, value in (("session_id", found.session_id), ("metadata", found.metadata)):
        try:
            if isinstance(value, str):
                validation.text(name, value)
            elif value is not None:
                validation.metadata(value)
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
        problem, advice = f"byte {wrong.start} is not valid UTF-8", "Save the file as UTF-8 and try again."
        raise InvalidSetting(name="data", value="…", problem=problem, advice=advice) from None
