"""Resolve which user's data a call may touch: own, any (an admin who acts for no user), or the workspace's.

Invariant: decided here, once, from the actor; every SQL statement below carries the result. Somebody else's facts answer like
missing ones.
Source: DESIGN §6 (who and whose); TIMEM "Data Isolation".
"""

from __future__ import annotations

from memoir_engine.core import validation
from memoir_engine.core.errors import FactsNotYours, NotAllowed
from memoir_engine.core.run import Actor
from memoir_engine.store.db.text_rules import owner_key

NOBODY = "-"  # no key of an owner: what it is asked for is not there


def _speaks_for(actor: Actor) -> bool:
    """Return True if the actor may name any user."""
    return actor.user is None and "admin" in actor.roles


def whose(actor: Actor, user_id: object = None) -> str:
    """Return the key of the owner to be read; NOBODY where the actor may not see them."""
    user = actor.user if user_id is None else validation.person("user_id", user_id)
    return owner_key(user) if user == actor.user or _speaks_for(actor) else NOBODY


def any_of(actor: Actor) -> str | None:
    """Return whose rows may be named by their id: the actor's own; None is anybody's, for who speaks for all."""
    return None if _speaks_for(actor) else owner_key(actor.user)


def runs_of(actor: Actor) -> str | None:
    """Return the user whose runs are seen beside the workspace's; None is everybody's, for who speaks for all."""
    return actor.user if actor.user is not None or _speaks_for(actor) else ""  # nobody is called so


def writes_for(actor: Actor, user_id: object = None) -> str | None:
    """Return the user whose facts will be written. Raises FactsNotYours."""
    user = actor.user if user_id is None else validation.person("user_id", user_id)
    if user != actor.user and not _speaks_for(actor):
        raise FactsNotYours(actor=actor.name, user=user)
    return user


def needs_owner(actor: Actor, begun_by: str, verb: str) -> None:
    """Require the role auditor to stop or resume a run that somebody else began."""
    if actor.name != begun_by:
        needs_auditor(actor, verb)


def needs_auditor(actor: Actor, verb: str) -> None:
    if "auditor" not in actor.roles:
        raise NotAllowed(actor=actor.name, verb=verb, role="auditor")


def needs_admin(actor: Actor, verb: str) -> None:
    if "admin" not in actor.roles:
        raise NotAllowed(actor=actor.name, verb=verb, role="admin")
