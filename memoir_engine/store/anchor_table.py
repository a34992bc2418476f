"""Anchored heads in another database: one table that is only ever inserted into.

Invariant: this is never the memory's own database. Grant its user INSERT and SELECT alone, and it cannot be rewritten from here.
Source: docs/decisions/0104.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import Column, Engine, Integer, MetaData, Table, Text, insert, inspect, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from memoir_engine.core.anchors import PlaceUnreachable
from memoir_engine.store.db import engines
from memoir_engine.store.db.database import problem_of

_TABLE = Table("memoir_anchor", MetaData(), Column("id", Integer, primary_key=True), Column("record", Text, nullable=False))


@dataclass(frozen=True)
class TablePlace:
    url: URL

    def read(self) -> str:
        try:
            if not inspect(self._engine).has_table(_TABLE.name):
                return ""
            with self._engine.connect() as connection:
                return "\n".join(connection.execute(select(_TABLE.c.record).order_by(_TABLE.c.id)).scalars())
        except SQLAlchemyError as failed:
            raise PlaceUnreachable(problem_of(failed)) from failed

    def append(self, line: str) -> None:
        try:
            if not inspect(self._engine).has_table(_TABLE.name):
                _TABLE.create(self._engine, checkfirst=True)
            with self._engine.begin() as connection:
                connection.execute(insert(_TABLE).values(record=line))
        except SQLAlchemyError as failed:
            raise PlaceUnreachable(problem_of(failed)) from failed

    @cached_property
    def _engine(self) -> Engine:
        try:
            engines.make_folder(self.url)
            return engines.build(self.url, writes=True)
        except (ImportError, NoSuchModuleError, OSError) as missing:
            raise PlaceUnreachable("its driver is not installed, or its folder cannot be made") from missing


def open_table(named: str) -> TablePlace:
    """Open the table in a database. Raises InvalidSetting unless it is a URL of a supported database."""
    return TablePlace(engines.address(named))
