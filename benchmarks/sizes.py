"""Bytes that a filed chunk takes: rows by what they hold, word indexes, vectors and their graph.

Chunks are filed by the stub, so prompts and replies are of the length that a model's are; the search is asked once, so that
passages, vectors and indexes are made. Rows are weighed by the database itself, with the indexes on them: SQLite, and
PostgreSQL with pgvector where the machine has it. Files are weighed after the memory was closed.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, text

from attacks.frame import of_tests
from benchmarks import stub
from benchmarks.frame import Size, figure, quiet
from benchmarks.ingestion import SETTINGS, corpus
from benchmarks.search import rested
from memoir_engine import Memory

FEATURES = ("ingest", "search")
READS = ("longtext",)
CHUNKS = {"full": 3_000, "small": 40}
DIM = 512  # of the offline embedder
UNIT = "bytes/chunk"
PARTS = {  # beginnings of the names of tables
    "texts, tree and filings": ("source", "contextual_helper", "chunk", "category", "filing"),
    "ledger": ("run", "model_call", "payload", "decision"),
    "audit log": ("action", "audit_"),
    "passages": ("passage",),
    "vectors": ("embedding",),
    "vectors again, for pgvector": ("vectors_",),
}
REST = "the rest"
FILES = {"word indexes": ("bm25", "passages"), "Chroma": ("dense",)}
SQLITE = "SELECT m.tbl_name, s.pgsize FROM dbstat s JOIN sqlite_master m ON m.name = s.name"
POSTGRESQL = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""
GRAPHS = "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind = 'i' AND relname LIKE 'vectors\\_%\\_graph'"


@quiet()
def main(size: Size = "full") -> dict[str, Any]:
    with stub.served() as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        filed, figures = _on_sqlite(Path(folder) / "sqlite", CHUNKS[size])
        with _pgvector() as address:
            figures += _on_postgresql(address, Path(folder) / "postgresql", CHUNKS[size]) if address else []
    return {
        "title": "Bytes of a filed chunk: ledger, audit log and indexes included",
        "sizes": {"chunks": filed, "depth": SETTINGS["hierarchy_depth"], "numbers of a vector": DIM},
        "figures": figures,
        "notes": [] if address else ["PostgreSQL with pgvector was not installed."],
    }


def _on_sqlite(folder: Path, wanted: int) -> tuple[int, list[dict[str, Any]]]:
    chunks = _filled({"data_dir": folder, "vector_store": "auto"}, wanted)
    with _connected(f"sqlite:///{folder / 'memory.db'}") as rows:
        figures = [
            figure(f"{what} of a chunk", [_number(rows, f"SELECT count(*) FROM {table}") / chunks], "per chunk")
            for what, table in (("passages", "passage"), ("requests to the model", "model_call"), ("events", "audit_event"))
        ]
        figures += _weighed("SQLite", rows, SQLITE, chunks)
    for name, places in FILES.items():
        figures.append(figure(f"files: {name}", [sum(_bytes(folder / place) for place in places) / chunks], UNIT))
    return chunks, figures


def _on_postgresql(url: str, folder: Path, wanted: int) -> list[dict[str, Any]]:
    chunks = _filled({"data_dir": folder, "vector_store": "database", "database_url": url}, wanted)
    with _connected(url) as rows:
        figures = _weighed("PostgreSQL", rows, POSTGRESQL, chunks)
        graph = _number(rows, GRAPHS)  # none below the size from which one is made
        return [*figures, figure("PostgreSQL: of pgvector's, the graph", [graph / chunks], UNIT)]


def _filled(settings: dict[str, Any], wanted: int) -> int:
    """File chunks and wait until all is made that a search needs. Return how many there are."""
    with Memory(**SETTINGS | {"embedder": "offline"} | settings) as memory:
        chunks = memory.ingest_text(corpus(wanted), name="corpus").raise_for_error().chunks
        memory.search("river")
        rested()
        return chunks


def _weighed(database: str, rows: Connection, query: str, chunks: int) -> list[dict[str, Any]]:
    """Make a figure of each part, the rest included, and one of the whole."""
    weights: Counter[str] = Counter()
    for table, weight in rows.execute(text(query)):
        weights[next((part for part, tables in PARTS.items() if table.startswith(tables)), REST)] += weight
    parts = [figure(f"{database}: {part}", [weights[part] / chunks], UNIT) for part in (*PARTS, REST) if weights[part]]
    return [*parts, figure(f"{database}: all of it", [weights.total() / chunks], UNIT)]


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    with engine.connect() as rows:
        yield rows
    engine.dispose()


@contextmanager
def _pgvector() -> Iterator[str | None]:
    """Yield an empty database of a server that ends with the benchmark; None where none is installed."""
    home = of_tests("machine").pgvector_home()
    if home is None:
        yield None
        return
    server = of_tests("servers").Pgvector(home, durable=False)
    try:
        yield server.fresh_url()
    finally:
        server.stop()


def _number(rows: Connection, query: str) -> int:
    return int(rows.execute(text(query)).scalar() or 0)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
