"""An empty database gets today's tables in one go; the scripts of migrations/ are for those that hold something.

Invariant: what stands afterwards is what the scripts, run one after the other, would have left (a test compares both).
MariaDB and MySQL commit each table by itself: there the mark of a creation under way lets the next opening finish it.
Source: measured, one CPU: seven scripts .15 s, this .03 s.
"""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, update

from memoir_engine.errors import InvalidSetting
from memoir_engine.store import tables as t

UNDER_WAY = "creating"
COUNTERS = (
    *("category", "chunk", "decision", "helper", "model_call", "source", "tree"),
    *("erasure", "passage", "search", "session", "thread", "cut", "fact"),
)
_HEAD = {"id": 1, "seq": 0, "hash": "0" * 64, "at": "1970-01-01T00:00:00.000000Z"}

_own = MetaData(naming_convention={"pk": "%(table_name)s_pkc"})
stamp = Table("alembic_version", _own, Column("version_num", String(32), primary_key=True))  # as Alembic itself makes it


def create(connection: Connection, *, revision: str, resumed: bool) -> None:
    """Every table, index and first row, and `revision` as its stamp. Raises InvalidSetting: tables of others are there.

    `resumed`: a creation stopped half way; what it left holds nothing and is dropped.
    """
    if resumed:
        t.metadata.drop_all(connection)
    else:
        _refuse_others(connection)
        _own.create_all(connection)
        connection.execute(insert(stamp).values(version_num=UNDER_WAY))
    t.metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(t.counter), [{"name": one, "value": 0} for one in COUNTERS])
    connection.execute(insert(t.lease).values(name="planner"))
    connection.execute(insert(t.audit_head).values(_HEAD))
    connection.execute(update(stamp).values(version_num=revision))


def _refuse_others(connection: Connection) -> None:
    taken = sorted(set(inspect(connection).get_table_names()) & set(t.metadata.tables))
    if taken:
        problem = f"it holds tables of another program ({', '.join(taken[:5])})"
        shown = connection.engine.url.render_as_string(hide_password=True)
        raise InvalidSetting(name="database_url", value=shown, problem=problem, advice="Give Memoir a database of its own.")
