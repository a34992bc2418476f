"""One Chroma collection, in a folder or on a server: our vectors, cosine, nothing else of it.

Invariant: Chroma never makes a vector itself (its own embedding function would download a model), and existing ids are
always replaced (`add` keeps the old vector without a word). Cosines come out as cosines, keys as numbers.
Source: verified/store.md §1.1–1.4.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import numpy as np

from memoir_engine.embedding import Vectors
from memoir_engine.errors import InvalidSetting

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.config import Settings

BATCH = 5000  # and never more than the client says
PROBE_S = 1.0
ANSWER_S = 30.0
OPTIONS = frozenset(
    {"ef_construction", "ef_search", "max_neighbors", "num_threads", "batch_size", "sync_threshold", "resize_factor"}
)
MARK = "high_water"
EDITION = "edition"
FOLDERS = "folders"  # one object for all of them


class ChromaMissing(Exception):
    """chromadb cannot be imported here."""


class ServerSilent(Exception):
    """No Chroma server answers at the address."""


class Chroma:
    """Safe for threads. What goes wrong comes as whatever Chroma raises: the caller has one place for it."""

    def __init__(self, client: Client, name: str, metadata: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._client = client
        self._batch = min(BATCH, client.get_max_batch_size())
        self._of = client.get_or_create_collection(
            name,
            embedding_function=None,
            configuration=cast("CreateCollectionConfiguration", {"hnsw": {"space": "cosine", **options}}),
            metadata=dict(metadata),
        )

    def __len__(self) -> int:
        return int(self._of.count())

    def put(self, keys: Sequence[int], rows: Vectors) -> None:
        for at in range(0, len(keys), self._batch):
            some = slice(at, at + self._batch)
            self._of.upsert(ids=[str(key) for key in keys[some]], embeddings=rows[some])

    def drop(self, keys: Sequence[int]) -> None:
        for at in range(0, len(keys), self._batch):
            self._of.delete(ids=[str(key) for key in keys[at : at + self._batch]])

    def top(self, row: Vectors, k: int) -> list[tuple[int, float]]:
        """Distances are 1 − cosine, smaller is nearer. There is no filter: one by ids fails where an id is not held, and one
        by metadata takes the longer the more there is."""
        found = self._of.query(query_embeddings=row[None], n_results=k, include=["distances"])
        distances = (found["distances"] or [[]])[0]
        return [(int(key), 1.0 - float(far)) for key, far in zip(found["ids"][0], distances, strict=True)]

    def rows(self, keys: Sequence[int]) -> Iterator[tuple[int, Vectors]]:
        """(key, (dim,)) of those it holds, in no order."""
        for at in range(0, len(keys), self._batch):
            found = self._of.get(ids=[str(key) for key in keys[at : at + self._batch]], include=["embeddings"])
            yield from zip(map(int, found["ids"]), np.asarray(found["embeddings"], np.float32), strict=True)

    def held(self, keys: Sequence[int]) -> int:
        """How many of these it holds."""
        some = (keys[at : at + self._batch] for at in range(0, len(keys), self._batch))
        return sum(len(self._of.get(ids=[str(key) for key in part], include=[])["ids"]) for part in some)

    def sample(self, size: int) -> list[int]:
        """Some of its keys, spread over all of them."""
        count = len(self)
        steps = range(0, count, max(1, count // size))
        found = [self._of.get(limit=1, offset=at, include=[])["ids"] for at in steps]
        return [int(key) for ids in found for key in ids][:size]

    @property
    def mark(self) -> int:
        """What `set_mark` wrote, 0 before."""
        return int((self._of.metadata or {}).get(MARK, 0))

    @property
    def edition(self) -> int:
        """How many erasures there had been when it was made."""
        return int((self._of.metadata or {}).get(EDITION, 0))

    def set_mark(self, seq: int) -> None:
        self._of.modify(metadata={**(self._of.metadata or {}), MARK: seq})

    def destroy(self) -> None:
        self._client.delete_collection(self._of.name)

    def close(self) -> None:
        sessions = _sessions(self._client)
        self._client.close()
        for session in sessions:
            session.close()  # a client of a server leaves its connections open


def check_options(options: Mapping[str, Any]) -> None:
    """`backend_options["chroma"]`, which go to HNSW. Raises InvalidSetting."""
    for name, value in options.items():
        problem = "Chroma's HNSW has no such parameter" if name not in OPTIONS else "it must be a number above 0"
        if name not in OPTIONS or isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            advice = f"Known are {', '.join(sorted(OPTIONS))}; the space is always cosine."
            raise InvalidSetting(name=f"backend_options['chroma'][{name!r}]", value=value, problem=problem, advice=advice)


def is_there() -> bool:
    """Whether chromadb can be imported, without the seconds that takes."""
    try:
        return find_spec("chromadb") is not None
    except (ImportError, ValueError):
        return False


def in_folder(folder: Path, name: str, metadata: Mapping[str, Any], options: Mapping[str, Any]) -> Chroma:
    import chromadb

    folder.mkdir(parents=True, exist_ok=True)
    client = cast("Client", chromadb.PersistentClient(str(folder), settings=_settings(FOLDERS)))
    try:
        return Chroma(client, name, metadata, options)
    except BaseException:
        client.close()  # else the folder stays broken for every client of this process
        raise


def on_server(url: str, name: str, metadata: Mapping[str, Any], options: Mapping[str, Any]) -> Chroma:
    """Raises ServerSilent within PROBE_S: Chroma's own client would wait for ever for a server that says nothing."""
    probe(url)
    import chromadb

    parts = urlsplit(url)
    client = chromadb.HttpClient(
        host=str(parts.hostname),
        port=parts.port or (443 if parts.scheme == "https" else 8000),
        ssl=parts.scheme == "https",
        settings=_settings(url),
    )
    for session in _sessions(client):
        session.timeout = ANSWER_S  # it is without end else
    found = Chroma(cast("Client", client), name, metadata, options)
    if found.edition >= int(metadata.get(EDITION, 0)):
        return found
    found.destroy()  # of before an erasure, which this server may have missed
    return Chroma(cast("Client", client), name, metadata, options)


def _sessions(client: object) -> list[Any]:
    """The HTTP sessions of a client of a server, none of one of a folder; nothing public leads to them."""
    servers = [getattr(one, "_server", None) for one in (client, getattr(client, "_admin_client", None))]
    found = {id(session): session for server in servers if (session := getattr(server, "_session", None)) is not None}
    return list(found.values())


def probe(url: str) -> None:
    """Raises ServerSilent."""
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/api/v2/heartbeat", timeout=PROBE_S) as reply:
            json.loads(reply.read(10_000))
    except (OSError, ValueError, urllib.error.URLError) as silent:
        raise ServerSilent(f"no Chroma server answers at {url}: {silent}") from silent


_SETTINGS: dict[str, Settings] = {}


def _settings(place: str) -> Settings:
    """The same object for every client of a place: a second one with others is refused, and a client writes into it."""
    from chromadb.config import Settings

    return _SETTINGS.setdefault(place, Settings(anonymized_telemetry=False))
