"""Archives that are documents (DOCX, XLSX, PPTX, EPUB): their sizes are checked before anything in them is unpacked.

Source: DESIGN §12 (archive bombs).
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

from memoir_engine.core.errors import FileUnreadable

MAX_ENTRIES = 5_000
MAX_UNPACKED = 400_000_000  # bytes; a document of 50 MB is pictures, its text rarely 10
MAX_RATIO = 200  # text packs 10 to 1, tables of zeros 50 to 1
_SMALL = 10_000_000  # below this no ratio matters


def open_archive(data: bytes, name: str, kind: str) -> zipfile.ZipFile:
    """Open an archive whose parts have honest sizes. Raises FileUnreadable (E203)."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as broken:
        raise FileUnreadable(name=name, kind=kind, problem="its archive is broken") from broken
    entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    too_dense = unpacked > _SMALL and unpacked > MAX_RATIO * packed
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED or too_dense:
        problem = f"it would unpack to {unpacked / 1e6:.0f} MB in {len(entries)} parts, which no honest document does"
        raise FileUnreadable(name=name, kind=kind, problem=problem)
    return archive


def open_office(data: bytes, name: str, kind: str, otherwise: str, opener: Callable[[BytesIO], Any]) -> Any:
    """Open an office file by its library after a check of its archive's sizes. Raises FileUnreadable (E203).

    otherwise: what is said of one that cannot be opened; {kind} is the error that its library raised.
    """
    open_archive(data, name, kind).close()
    try:
        return opener(BytesIO(data))
    except MemoryError:
        raise
    except Exception as broken:  # the libraries let KeyError, XMLSyntaxError, BadZipFile and more through
        problem = otherwise.format(kind=type(broken).__name__)
        raise FileUnreadable(name=name, kind=kind, problem=problem) from broken
