"""Segments on disk: files that never change, and a manifest that names those in force.

Invariant: the manifest is replaced in one step and last, so a reader finds a whole state or none. What is missing,
cut off, or of another form reads as nothing: the index is a cache, its owner feeds it again.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

from memoir_engine.index.documents import Documents
from memoir_engine.index.segment import Segment, Weighing

FORM = 3
MANIFEST = "lexical.json"


@dataclass(frozen=True)
class Kept:
    """A state as it stands on disk; a segment comes with the name of its file."""

    high_water: int
    segments: tuple[tuple[str, Segment], ...]


def save(folder: Path, segment: Segment) -> str:
    """The name of the new file. Removed documents are not part of it: they stand in the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{uuid4().hex}.npz"
    documents = segment.documents
    words = json.dumps(list(documents.numbers), ensure_ascii=False).encode("utf-8", "surrogatepass")
    with (folder / f"{name}.part").open("wb") as file:
        np.savez(
            file,
            keys=documents.keys,
            tokens=documents.tokens,
            offsets=documents.offsets,
            wholes=documents.wholes,
            terms=np.frombuffer(words, np.uint8),
            mean_length=np.array(segment.mean_length),
            shares=segment.shares,
            rows=segment.rows,
            starts=segment.starts,
        )
    os.replace(folder / f"{name}.part", folder / name)
    return name


def publish(folder: Path, kept: Kept, tokeniser: str) -> None:
    """Put the state in force."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "form": FORM,
        "tokeniser": tokeniser,
        "high_water": kept.high_water,
        "mean_length": kept.segments[0][1].mean_length if kept.segments else 0.0,
        "segments": [{"file": name, "removed": _removed(segment)} for name, segment in kept.segments],
    }
    part = folder / f"{uuid4().hex}.part"
    part.write_text(json.dumps(manifest), encoding="utf-8")
    os.replace(part, folder / MANIFEST)


def drop(folder: Path, names: Iterable[str]) -> None:
    """Files that no state in force names."""
    for name in names:
        (folder / name).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Files that the manifest does not name: of a process that ended while it wrote. For whoever holds the folder alone."""
    try:
        named = {entry["file"] for entry in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["segments"]}
    except (OSError, ValueError, KeyError, TypeError):
        named = set()
    drop(folder, {file.name for file in (*folder.glob("*.npz"), *folder.glob("*.part"))} - named)


def load(folder: Path, tokeniser: str, weighing: Weighing) -> Kept | None:
    """The state in force; None where there is none that can be read, or it was made by another tokeniser.

    A file may have been written for another mean length than the state's: its scores are set right.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if (manifest["form"], manifest["tokeniser"]) != (FORM, tokeniser):
            return None
        mean_length = float(manifest["mean_length"])
        segments = tuple(
            (entry["file"], _read(folder / entry["file"]).repinned(mean_length, weighing).without(entry["removed"]))
            for entry in manifest["segments"]
        )
        return Kept(int(manifest["high_water"]), segments)
    except (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, zipfile.BadZipFile):
        return None


def _removed(segment: Segment) -> list[int]:
    return [int(key) for key in segment.documents.keys[~segment.alive]]


def _read(path: Path) -> Segment:
    # opened here: np.load leaves a file open that turns out to be no archive
    with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
        terms = json.loads(held["terms"].tobytes().decode("utf-8", "surrogatepass"))
        numbers = {term: at for at, term in enumerate(terms)}
        documents = Documents(held["keys"], held["tokens"], held["offsets"], numbers, held["wholes"])
        return Segment(
            documents,
            float(held["mean_length"]),
            np.ones(len(documents), bool),
            np.diff(held["starts"]).astype(np.int32),
            held["shares"],
            held["rows"],
            held["starts"],
        )
