"""The view of conversations: sessions opened, listed, read and said in.

Invariant: a session belongs to the user whom the view is for, and each read and write says so below: another's answers like one
that is not there. Anybody may speak.
Source: SESSION 1, 3; MEMOLLA F-01; API "Sessions and the agent"; DESIGN §6 (who and whose).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memoir_engine import given, spoken
from memoir_engine.errors import SessionNotFound
from memoir_engine.reading import View
from memoir_engine.results import MessageRecord, SessionView
from memoir_engine.run import new_id

if TYPE_CHECKING:
    from memoir_engine.retaining import SessionsView
    from memoir_engine.store.conversations import Turn
    from memoir_engine.store.types import Tx
    from memoir_engine.text.messages import Message

MOST_LISTED = 100_000


class SessionsRead(View):
    """Conversations, read."""

    def list_sessions(self) -> tuple[str, ...]:
        """Ids of the sessions that have not expired, last active first (SESSION 3.1)."""
        return tuple(one.session_id for one in self._listed(MOST_LISTED, None, expired=False))

    def get_session_history(self, session_id: str, after: int = 0, limit: int | None = None) -> tuple[MessageRecord, ...]:
        """All that was said, in order of time (SESSION 3.2, 3.5); nothing where nothing was.

        after, limit: only messages behind that number, and so many. `messages_from_dict` of LangChain takes the answer as it is.
        """
        from memoir_engine.store import said

        named, behind = spoken.session(session_id), min(given.whole("after", after, least=0), spoken.MOST_KEPT)
        most = None if limit is None else given.limit(limit)
        return self._read(lambda tx: said.history(tx, self._user, named, after=behind, limit=most))

    def get(self, session_id: str) -> SessionView:
        """Raises SessionNotFound; also for a session of somebody else."""
        named = spoken.session(session_id)
        return self._read(lambda tx: self._view(tx, named))

    def list(self, limit: int = 100, before: int | None = None, *, expired: bool = False) -> tuple[SessionView, ...]:
        """Last active first; `before` is the number of the last session of the page before. expired: those, too."""
        from memoir_engine.store import said

        most, behind = given.limit(limit), None if before is None else given.cursor("before", before)
        found = self._listed(most, behind, expired=given.flag("expired", expired))
        return self._read(lambda tx: said.with_openings(tx, found))

    def _listed(self, limit: int, before: int | None, *, expired: bool) -> tuple[SessionView, ...]:
        from memoir_engine.store import said

        kept, now = self._engine.resolved.config.session, self._engine.clock.now()
        return self._read(
            lambda tx: said.sessions(
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
        from memoir_engine.store import said

        row = said.find(tx, self._user, session_id)
        if row is None or (row.cleared_seq is not None and not row.messages):
            raise SessionNotFound(session_id=session_id)
        kept = self._engine.resolved.config.session
        found = said.view(row, now=self._engine.clock.now(), timeout_s=kept.session_timeout, most=kept.max_messages)
        return said.with_openings(tx, [found])[0]


class SessionsSaid(SessionsRead):
    """Conversations, read and said in."""

    def create(
        self,
        session_id: str | None = None,
        *,
        metadata: dict[str, Any] | None = None,
        max_messages: int | None = None,
        session_timeout: float | None = None,
    ) -> SessionView:
        """Open a session, by an id of its own where none is given (SESSION 1.1); one that is there stays as it is.

        max_messages, session_timeout (s): for this session, instead of what is configured.
        """
        from memoir_engine.store import conversations

        named = self._new_id() if session_id is None else spoken.session(session_id)
        told = {} if metadata is None else given.metadata(metadata)
        most, timeout = spoken.most(max_messages), spoken.timeout(session_timeout)
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        engine.db.write(
            lambda tx: conversations.open_session(
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
        named, message = spoken.said(session_id, role, content, metadata, ts, self._new_id())
        return self._records(named, self._said(named, (message,)), (message,))[0]

    def append(self, session_id: str, messages: Iterable[object], *, run_id: str | None = None) -> tuple[MessageRecord, ...]:
        """Append a turn; the session is opened where it is not there (SESSION 1.3, 1.5). All of it or nothing.

        messages: records as LangChain or OpenAI writes them, or as `get_session_history` gives them; `at` beside one is its time,
        with a zone; one without stays behind the message before it. run_id: the run that said it. Raises MessageRefused naming
        the record, RunNotFound.
        """
        from memoir_engine.text.messages import in_time

        named, said_by = spoken.session(session_id), spoken.run(run_id)
        coming = in_time(spoken.messages(messages))
        if not coming:
            return ()
        return self._records(named, self._said(named, coming, said_by), coming)

    def _said(self, session_id: str, messages: tuple[Message, ...], run_id: str | None = None) -> Turn | None:
        from memoir_engine.store import conversations

        engine, actor, action_id = self._engine, self._actor, self._new_id()
        most = engine.resolved.config.session.max_messages
        return engine.db.write(
            lambda tx: conversations.append(
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

    def _records(self, session_id: str, turn: Turn | None, messages: tuple[Message, ...]) -> tuple[MessageRecord, ...]:
        """As they were written; nothing needs to be read for it."""
        if turn is None:
            return ()
        return tuple(
            MessageRecord(session_id, turn.first + i, one.kind, one.content, one.at or turn.at, one.id, one.name, one.rest)
            for i, one in enumerate(messages)
        )

    def _new_id(self) -> str:
        return new_id(self._engine.clock.now())


class Conversed:
    """The verb of both faces of the facade that says something."""

    sessions: SessionsView

    def add_conversation(
        self,
        session_id: str,
        role: str,
        content: str,
        metadata: dict[str, Any] | None = None,
        ts: datetime | str | None = None,
    ) -> MessageRecord:
        """Say something in a session, which is opened where it is not there (MEMOLLA F-01).

        ts: when it was said, with a time zone; now where it is not given. Raises ConversationInputMissing (E001), InvalidSetting.
        """
        return self.sessions.add(session_id, role, content, metadata, ts)
