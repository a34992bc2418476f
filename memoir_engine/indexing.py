"""Which index answers for whose vectors, by the setting `vector_store`; and what `backend_options` hand on to the indexes.

Invariant: the workspace's are one index for each embedder, which its caller keeps and closes; those of a user are a matrix in
memory of that user's alone, made when that user searches.
Source: MEMOLLA F-00-01; DESIGN §2.3, §6 (who and whose); spec README 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memoir_engine.config import Resolved
from memoir_engine.errors import InvalidSetting
from memoir_engine.nearest import NearestIndex

if TYPE_CHECKING:
    from memoir_engine.index.segment import Weighing
    from memoir_engine.index.vectors import Matrices
    from memoir_engine.store.database import Database

BACKENDS = ("bm25", "chroma")
COMPARES = ("postgresql", "mysql")  # what compares vectors itself, where it can; elsewhere they are compared in memory, exactly
LEAST_MOST = {"k1": (0.01, 100.0), "b": (0.0, 1.0)}

NearestOf = Callable[[str, str, int], NearestIndex]  # of an owner ('' for the workspace), an embedder, a length


def weighing_of(resolved: Resolved) -> Weighing:
    """k1 and b of `backend_options["bm25"]`; a b that is given holds for whole texts, too.

    Raises InvalidSetting for anything else there, or beside `bm25` and `chroma`.
    """
    from memoir_engine.index.segment import Weighing

    for name, value in resolved.backend_options.items():
        if name not in BACKENDS or not isinstance(value, Mapping):
            advice = "Give {'bm25': {'k1': 0.9, 'b': 0.4}}, {'chroma': {'ef_search': 200}}, or both."
            raise InvalidSetting(name="backend_options", value=name, problem="no backend takes these", advice=advice)
    given = dict(resolved.backend_options.get("bm25") or {})
    for name, value in given.items():
        fits = name in LEAST_MOST and isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not LEAST_MOST[name][0] <= value <= LEAST_MOST[name][1]:
            advice = "k1 is from 0.01 to 100, b from 0 to 1; the formula is always Lucene's."
            problem = "it cannot be used" if name in LEAST_MOST else "bm25 takes k1 and b here"
            raise InvalidSetting(name=f"backend_options['bm25'][{name!r}]", value=value, problem=problem, advice=advice)
    numbers = {name: float(value) for name, value in given.items()}
    return Weighing(**numbers, **({"whole_b": numbers["b"]} if "b" in numbers else {}))


def check_chroma(resolved: Resolved) -> None:
    """Raises InvalidSetting for `backend_options["chroma"]` that Chroma does not know."""
    from memoir_engine.index.chroma import check_options

    check_options(dict(resolved.backend_options.get("chroma") or {}))


def nearest_of(resolved: Resolved, db: Database) -> NearestOf:
    """Options are checked before: `check_chroma`."""
    from memoir_engine.index.dense_homes import Of
    from memoir_engine.index.opening import open_nearest
    from memoir_engine.index.vectors import Matrices
    from memoir_engine.store import ids
    from memoir_engine.store.address import address, in_memory
    from memoir_engine.store.identity import identity
    from memoir_engine.store.owners import WORKSPACE
    from memoir_engine.store.vectors import DatabaseVectors

    config, options = resolved.config, dict(resolved.backend_options.get("chroma") or {})
    folder = None if in_memory(address(str(config.database_url))) else config.data_dir
    matrices = Matrices()

    def of(owner: str, embedder: str, dim: int) -> NearestIndex:
        if owner != WORKSPACE:
            return matrices.of(owner, embedder, dim)
        edition = str(db.read(ids.erasures))
        if config.vector_store == "database" and db.dialect in COMPARES:
            return DatabaseVectors(db, embedder, dim, edition)
        return open_nearest(config.vector_store, folder, Of(identity(db), edition, embedder, dim, options))

    return of


def nearest_facts_of(resolved: Resolved, db: Database, matrices: Matrices) -> NearestOf:
    """Of facts: in the database where the setting names it and it can, else in memory; exact in both."""
    from memoir_engine.store.fact_nearest import FactTable

    homes: dict[tuple[str, int], FactTable] = {}

    def of(owner: str, embedder: str, dim: int) -> NearestIndex:
        if resolved.config.vector_store == "database" and db.dialect in COMPARES:
            home = homes.setdefault((embedder, dim), FactTable(db, embedder, dim))
            if home.health.ok:
                return home.of(owner)
        return matrices.of(owner, embedder, dim)

    return of
