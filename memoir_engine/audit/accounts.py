"""Accounts: who acts in a memory, with the roles that the settings give them.

Invariant: roles come from the setting `roles` and from nowhere else, so that whoever can write the memory cannot give themselves
any; this only reads. It is for admins: names with roles are a list of whom to attack.
Source: docs/decisions/0109-roles-are-shown-where-they-come-from.md.
"""

from __future__ import annotations

from memoir_engine.core.results import Account
from memoir_engine.core.run import Actor
from memoir_engine.core.settings import EVERYBODY, MemoirConfig
from memoir_engine.runtime.access import needs_admin
from memoir_engine.runtime.engine import Engine
from memoir_engine.store import accounts as recorded
from memoir_engine.store.accounts import Deeds


def accounts(engine: Engine, actor: Actor) -> tuple[Account, ...]:
    """Return who has acted or is named in the settings, by name. Raises NotAllowed."""
    needs_admin(actor, "list accounts")
    return joined(engine.resolved.config, engine.db.read(recorded.deeds))


def joined(config: MemoirConfig, deeds: tuple[Deeds, ...]) -> tuple[Account, ...]:
    """Join what is recorded with whom the settings name; case does not tell e-mails apart."""
    named = {name.strip().casefold(): name.strip() for name in config.roles if name != EVERYBODY}
    acted = {one.actor.casefold() for one in deeds}
    found = [
        Account(one.actor, config.roles_of(one.actor), one.actor.casefold() in named, one.actions, one.first_at, one.last_at)
        for one in deeds
    ]
    found += [Account(name, config.roles_of(name), True) for key, name in named.items() if key not in acted]
    return tuple(sorted(found, key=lambda account: (account.name.casefold(), account.name)))
