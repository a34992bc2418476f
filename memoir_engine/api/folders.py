"""The verb that ingests a folder of files, of AsyncMemory; Memory derives its own from it.

Source: issue 18 (more sources).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoir_engine.api import features
from memoir_engine.core.results import IngestResult
from memoir_engine.core.run import Actor

if TYPE_CHECKING:
    from memoir_engine.runtime.engine import Engine
    from memoir_engine.runtime.runner import OnEvent


class Folders:
    """Ingest many files at once."""

    _engine: Engine
    _actor: Actor

    async def ingest_folder(
        self, path: str | Path, *, metadata: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> tuple[IngestResult, ...]:
        """Ingest the files below a folder of this machine, each named by its path in it; a result for each file.

        Hidden files are left out, and so is what a link leads to outside the folder. A file that cannot be read is a result with
        its error. Again: the same bytes are recognised, and a file that has changed becomes a newer version of its source, which
        takes an auditor. Raises FolderUnreadable (E517) for a folder that is not there or is empty.
        """
        return await features.ingest_folder(self._engine, self._actor, path, metadata=metadata, on_event=on_event)
