"""The verbs of AsyncMemory that ingest a folder of files or a page of the web; Memory derives its own from them.

Source: issue 18 (more sources).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoir_engine.api import features
from memoir_engine.core.run import Actor

if TYPE_CHECKING:
    from memoir_engine.core.results import FetchedPage, IngestResult
    from memoir_engine.runtime.engine import Engine
    from memoir_engine.runtime.runner import OnEvent


class Folders:
    """Ingest many files at once, and pages by their address."""

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

    async def ingest_url(
        self, address: str, *, metadata: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> IngestResult:
        """Fetch a page by its address and ingest it, where the setting `web_hosts` allows its host (else E525).

        Its address and the time of fetching are kept as metadata of the source. Again: the same bytes are recognised, and a page
        that has changed becomes a newer version of its source, which takes an auditor.
        """
        return await features.ingest_url(self._engine, self._actor, address, metadata=metadata, on_event=on_event)

    async def fetch_url(self, address: str) -> FetchedPage:
        """Fetch a page as `ingest_url` does, and store nothing: its bytes and metadata are arguments of `ingest_file`.

        Raises AddressNotAllowed (E525), PageUnreachable (E526), PageTypeUnknown (E527), FileTooLarge (E202).
        """
        return await features.fetch_url(self._engine, address)
