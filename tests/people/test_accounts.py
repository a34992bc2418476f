"""Accounts: who has acted or is named in the settings, with the roles that the settings give, for admins alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from memoir_engine import Memory
from memoir_engine.core.errors import NotAllowed, UndoBlocked

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


def since(memory: Memory) -> dict[str, datetime | None]:
    return {one.name.casefold(): one.since for one in memory.people.accounts()}


def test_since_when_somebody_has_a_role_is_recorded_once_and_again_when_it_changes(used: Memory, tmp_path: Path):
    assert set(since(used).values()) == {None}
    first = used.people.record_roles()
    assert first is not None and len(first.events) == 3 and used.people.record_roles() is None
    assert set(since(used).values()) == {first.at}, "the guest has the roles of everybody, since these were recorded"
    assert "ana" not in str(used.audit.events()).casefold(), "names stand where an erasure can take them"
    used.close()
    changed: dict[str, Any] = {"ana@example.org": ["admin"], "*": ["reader"], "idle@example.org": ["admin"]}
    with Memory(data_dir=tmp_path / "memory", model="offline", roles=changed) as memory:
        assert since(memory)["ana@example.org"] is None, "the record still says something else"
        second = memory.people.record_roles()
        assert second is not None and second.at > first.at
        assert since(memory) == {
            "ana@example.org": second.at,
            "guest": first.at,
            "idle@example.org": first.at,
        }
        (change,) = memory.audit.action(second.action_id).changes
        assert (change.before, change.after) == ("auditor", "admin")
        with pytest.raises(UndoBlocked):
            memory.review.undo(second.action_id)
        assert memory.audit.verify().ok


def test_who_is_no_longer_named_has_the_roles_of_everybody_since_then(used: Memory, tmp_path: Path):
    first = used.people.record_roles()
    used.close()
    with Memory(data_dir=tmp_path / "memory", model="offline", roles={"*": ["reader"]}) as memory:
        second = memory.people.record_roles()
        assert first is not None and second is not None
        assert since(memory) == {"ana@example.org": second.at, "guest": first.at}


def test_the_record_goes_along_with_an_export_and_an_erasure_takes_the_name(used: Memory, tmp_path: Path):
    used.people.record_roles()
    used.people.erase("idle@example.org", "asked for")
    assert since(used)["idle@example.org"] is None and used.audit.verify().ok
    file = tmp_path / "memory.zip"
    used.export(file)
    with Memory.import_(file, data_dir=tmp_path / "other", model="offline", roles=ROLES) as copy:
        assert since(copy) == since(used) and copy.audit.verify().ok
    assert b"idle@example.org" not in b"".join(ZipFile(file).read(one) for one in ZipFile(file).namelist())


def test_nobody_but_an_admin_records_them(used: Memory):
    with pytest.raises(NotAllowed):
        used.acting_as("Vi", roles=("auditor",)).people.record_roles()
