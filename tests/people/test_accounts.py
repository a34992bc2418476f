"""Accounts: who has acted or is named in the settings, with the roles that the settings give, for admins alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import NotAllowed

ROLES = {"Ana@Example.org": ["auditor"], "idle@example.org": ["admin"], "*": ["reader"]}


@pytest.fixture
def used(tmp_path: Path) -> Iterator[Memory]:
    with Memory(data_dir=tmp_path / "memory", model="offline", roles=ROLES) as memory:
        memory.acting_as("ana@example.org").add_knowledge("k1", "Tea is grown in Uji.")
        memory.acting_as("ana@example.org").add_knowledge("k2", "Tea is picked in May.")
        memory.acting_as("guest").add_knowledge("k3", "Tea is drunk in the afternoon.")
        yield memory


def test_who_acted_and_who_is_named_are_listed_with_their_roles(used: Memory):
    listed = [(one.name, one.roles, one.named, one.actions) for one in used.people.accounts()]
    assert listed == [
        ("ana@example.org", ("viewer", "auditor"), True, 2),
        ("guest", ("viewer", "reader"), False, 1),
        ("idle@example.org", ("viewer", "admin"), True, 0),
    ]


def test_the_times_are_those_of_the_record(used: Memory):
    ana, _, idle = used.people.accounts()
    deeds = used.audit.actions(actor="ana@example.org")
    assert (ana.first_at, ana.last_at) == (deeds[-1].at, deeds[0].at)
    assert (idle.first_at, idle.last_at) == (None, None)


@pytest.mark.parametrize("role", ["viewer", "reader", "auditor"])
def test_nobody_but_an_admin_sees_them(used: Memory, role: str):
    with pytest.raises(NotAllowed):
        used.acting_as("Vi", roles=(role,)).people.accounts()  # type: ignore[arg-type]  # one of the roles
