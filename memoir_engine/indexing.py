"""Which index answers for whose vectors, by the setting `vector_store`.

Invariant: the workspace's are one index for each embedder, which its caller keeps and closes; those of a user are a matrix in
memory of that user's alone, made when that user searches.
Source: DESIGN §2.3, §6 (who and whose); spec README 13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memoir_engine.config import Resolved
from memoir_engine.nearest import NearestIndex

if TYPE_CHECKING:
    from memoir_engine.store.database import Database

NearestOf = Callable[[str, str, int], NearestIndex]  # of an owner ('' for the workspace), an embedder, a length


def nearest_of(resolved: Resolved, db: Database) -> NearestOf:
    """Raises InvalidSetting for `backend_options["chroma"]` that Chroma does not know."""
    from memoir_engine.index.chroma import check_options
    from memoir_engine.index.dense_homes import Of
    from memoir_engine.index.opening import open_nearest
    from memoir_engine.index.vectors import Matrices
    from memoir_engine.store import ids
    from memoir_engine.store.address import address, in_memory
    from memoir_engine.store.identity import identity
    from memoir_engine.store.owners import WORKSPACE

    config, options = resolved.config, dict(resolved.backend_options.get("chroma") or {})
    folder = None if in_memory(address(str(config.database_url))) else config.data_dir
    matrices = Matrices()
    check_options(options)

    def of(owner: str, embedder: str, dim: int) -> NearestIndex:
        if owner != WORKSPACE:
            return matrices.of(owner, embedder, dim)
        edition = str(db.read(ids.erasures))
        return open_nearest(config.vector_store, folder, Of(identity(db), edition, embedder, dim, options))

    return of
