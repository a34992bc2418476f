"""The view of conversations, whole: with what is kept of them, and what goes.

Invariant: whoever has a session may limit and clear it; for one that is nobody's it takes a role. What would go is shown first by
the very rule that drops it.
Source: SESSION 3.3, 3.4, 5; spec README, 12.
"""

from __future__ import annotations

from memoir_engine import given, spoken
from memoir_engine.carrying import SessionsCarried
from memoir_engine.conversing import MOST_LISTED
from memoir_engine.errors import NotAllowed
from memoir_engine.results import Cleared, RetentionPreview, SessionView


class SessionsView(SessionsCarried):
    """Conversations, kept within limits and cleared."""

    def preview_retention(
        self, session_id: str | None = None, *, max_messages: int | None = None, session_timeout: float | None = None
    ) -> tuple[RetentionPreview, ...]:
        """What these limits would drop and expire now, session by session (SESSION 5); changes nothing.

        session_id: of this one alone. Sessions to which nothing would happen are left out.
        """
        most, timeout = spoken.most(max_messages), spoken.timeout(session_timeout)
        asked = self._listed(MOST_LISTED, None, expired=True) if session_id is None else (self.get(session_id),)
        found = (self._preview(one, most, timeout) for one in asked)
        return tuple(one for one in found if one.dropped or one.would_expire)

    def set_retention(
        self, session_id: str, *, max_messages: int | None = None, session_timeout: float | None = None
    ) -> SessionView:
        """What is kept of this session from now on; what goes over the limit goes now. None: as configured.

        Raises SessionNotFound, and NotAllowed for one that is nobody's.
        """
        from memoir_engine.store import limiting

        self._needs_own("auditor", "limit a session")
        named, most, timeout = self.get(session_id).session_id, spoken.most(max_messages), spoken.timeout(session_timeout)
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        falls_to = engine.resolved.config.session.max_messages
        engine.db.write(
            lambda tx: limiting.limit(
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
        """Remove all that was said in it, wherever it stands, for good; facts drawn from it stay (SESSION 3.3)."""
        self._needs_own("admin", "clear a session")
        return self._clear((spoken.session(session_id),), reason)

    def clear_all_sessions(self, reason: str | None = None) -> Cleared:
        """The same for every session of this user, expired ones too, and for the states of LangGraph's graphs (SESSION 3.4)."""
        self._needs_own("admin", "clear all sessions")
        return self._clear(None, reason)

    def _clear(self, session_ids: tuple[str, ...] | None, reason: str | None) -> Cleared:
        from memoir_engine.store import clearing

        why = None if reason is None else given.text("reason", reason)
        engine, actor, action_id = self._engine, self._actor, self._new_id()
        done = engine.db.write(
            lambda tx: clearing.clear(
                tx, actor.user, session_ids, actor=actor.name, clock=engine.clock, action_id=action_id, reason=why
            ),
            operation="the clearing of a session",
        )
        if done.action_id is not None:
            engine.db.compact(rows=False)
        return done

    def _preview(self, session: SessionView, most: int | None, timeout: float | None) -> RetentionPreview:
        from memoir_engine.store import trimming
        from memoir_engine.text.retention import dropped

        full = most is not None and session.messages > most  # else nothing goes, and nothing need be read
        gone = dropped(self._read(lambda tx: trimming.briefs(tx, session.number)), most) if full else ()
        idle_s = (self._engine.clock.now() - session.last_at).total_seconds()
        expires = timeout is not None and idle_s >= timeout
        return RetentionPreview(session.session_id, gone, session.messages - len(gone), expires)

    def _needs_own(self, role: str, verb: str) -> None:
        """One's own is one's own; for what is nobody's it takes a role."""
        if self._actor.user is None and role not in self._actor.roles:
            raise NotAllowed(actor=self._actor.name, verb=verb, role=role)
