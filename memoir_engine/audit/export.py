"""A whole memory into one file, and from one into an empty store.

Invariant: what comes back is the same by its head and by the hash of its state, on whichever database; caches are made anew.
Nobody's keys and none of the settings are in the file. Whoever exports sees everything, so it needs an admin.
Source: API `memory.export`, `Memory.import_`.
"""

from __future__ import annotations

from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from memoir_engine.core import validation
from memoir_engine.core.config import MemoirConfig, Resolved, resolve
from memoir_engine.core.errors import DepthMismatch, InvalidSetting, NotAllowed
from memoir_engine.core.results import Exported
from memoir_engine.core.run import Actor, SystemClock
from memoir_engine.runtime.engine import Engine, open_engine
from memoir_engine.store import archive
from memoir_engine.store.db.database import Database
from memoir_engine.store.db.engines import address, in_memory

PATH_CHARS = 4096  # no system takes longer ones


def export(engine: Engine, actor: Actor, path: str | Path) -> Exported:
    """Raises NotAllowed, ExportFailed."""
    if "admin" not in actor.roles:
        raise NotAllowed(actor=actor.name, verb="export the memory", role="admin")
    return archive.export(engine.db, _place(path), made_by=_version())


def import_memory(
    path: str | Path,
    config: MemoirConfig | None,
    *,
    backend: str,
    db_path: str | Path | None,
    backend_options: dict[str, Any] | None,
    settings: dict[str, Any],
) -> Engine:
    """An engine over a store that was just filled.

    Raises ImportRefused, StoreNotEmpty, DepthMismatch, and what opening raises for the configuration; then nothing is kept.
    """
    source = _place(path)
    depth = archive.look(source)
    _refuse_other_depth(depth, config, settings)
    named: dict[str, Any] = {**settings, "hierarchy_depth": depth}
    resolved = resolve(config, backend=backend, db_path=db_path, backend_options=backend_options, **named)
    if in_memory(address(str(resolved.config.database_url))):
        return _filled(open_engine(resolved), source)
    return _anew(open_engine(resolved, first=partial(_fill, resolved, source)))


def _fill(resolved: Resolved, source: Path) -> None:
    db = Database.open(str(resolved.config.database_url), clock=SystemClock())
    try:
        archive.fill(db, source)
    finally:
        db.close()


def _filled(engine: Engine, source: Path) -> Engine:
    """A database in memory is gone with its connection."""
    try:
        archive.fill(engine.db, source)
    except BaseException:
        engine.close()
        raise
    return _anew(engine)


def _anew(engine: Engine) -> Engine:
    """An index of another memory may lie in the folder."""
    engine.lexical.clear()
    engine.keeper.later()
    return engine


def _refuse_other_depth(depth: int, config: MemoirConfig | None, settings: dict[str, Any]) -> None:
    """The depth is the file's; whoever names another one means another memory."""
    said = settings.get("hierarchy_depth")
    if said is None and config is not None and "hierarchy_depth" in config.model_fields_set:
        said = config.hierarchy_depth
    if said is not None and said != depth:
        raise DepthMismatch(stored=depth, given=said)


def _place(path: object) -> Path:
    """Raises InvalidSetting."""
    if not isinstance(path, str | PathLike) or not 0 < len(validation.text("path", fspath(path))) <= PATH_CHARS:
        raise InvalidSetting(name="path", value=path, problem="it is no path", advice="Give the path of a file: a str or a Path.")
    return Path(path).expanduser().absolute()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"memoir-engine {version('memoir-engine')}"
    except PackageNotFoundError:
        return "memoir-engine"
