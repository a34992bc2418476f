"""DOCX: paragraphs, lists and tables in order, notes behind them, headings by their styles, properties of the document.

Invariant: the archive's sizes are looked at before anything in it is unpacked. Cells of a table row are parted by a
bar, merged cells are told once. Source: DESIGN §8 (files.read), §12 (archive bombs).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from memoir_engine.errors import FileUnreadable
from memoir_engine.files.dates import iso_date
from memoir_engine.files.document import Document
from memoir_engine.files.docx_words import Words
from memoir_engine.files.metadata import own_words

MAX_ENTRIES = 5_000
MAX_UNPACKED = 400_000_000  # bytes; a DOCX of 50 MB is pictures, its text rarely 10
MAX_RATIO = 200  # text packs 10 to 1, tables of zeros 50 to 1
_SMALL = 10_000_000  # below this no ratio matters
_ID = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}id"
_TEMPLATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)  # which python-docx begins every document with
_TOLD, _QUOTED = 6, 80  # headers and footers, and characters of each


def read_docx(data: bytes, name: str) -> Document:
    _check_archive(data, name)
    document = _open(data, name)
    notes, warnings = _notes(document.part)
    words = Words({None: "", **{style.style_id: style.name or "" for style in document.styles}}, notes)
    words.write(document.element.body)
    flow, known = words.flow, document.core_properties
    first = next((heading.text for heading in flow.headings if heading.level == 1), None)
    title, author = own_words(known.title) or first, own_words(known.author)
    warnings += _margins(document.part, words)
    return Document("docx", flow.text, title, author, _dated(known), tuple(flow.headings), warnings=tuple(warnings))


def _dated(known: Any) -> str | None:
    """Neither the day its template was made, nor this moment, which the library gives where the file has no properties."""
    if known.last_modified_by == "python-docx" and known.created is None:
        return None
    return next((iso_date(moment) for moment in (known.created, known.modified) if moment and moment != _TEMPLATE), None)


def _check_archive(data: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as broken:
        raise FileUnreadable(name=name, kind="DOCX", problem="its archive is broken") from broken
    unpacked = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    too_dense = unpacked > _SMALL and unpacked > MAX_RATIO * packed
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED or too_dense:
        problem = f"it would unpack to {unpacked / 1e6:.0f} MB in {len(entries)} parts, which no honest document does"
        raise FileUnreadable(name=name, kind="DOCX", problem=problem)


def _open(data: bytes, name: str) -> Any:
    import docx

    try:
        return docx.Document(BytesIO(data))
    except MemoryError:
        raise
    except Exception as broken:  # python-docx lets KeyError, XMLSyntaxError, BadZipFile and more through
        problem = f"it is broken or not a document ({type(broken).__name__})"
        raise FileUnreadable(name=name, kind="DOCX", problem=problem) from broken


def _notes(part: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Footnotes and endnotes by their ids, and which of them could not be read."""
    from docx.oxml import parse_xml

    notes: dict[str, dict[str, Any]] = {"footnotes": {}, "endnotes": {}}
    warnings = []
    for kind, related in _related(part, tuple(notes)):
        try:
            notes[kind] = {note.get(_ID): note for note in parse_xml(related.blob)}
        except (ValueError, SyntaxError):
            warnings.append(f"the {kind} could not be read")
    return notes, warnings


def _margins(part: Any, words: Words) -> list[str]:
    """Headers and footers are told of and not read: they belong to the pages, and say the same on each."""
    told = [" ".join(words.told(margin.element).split()) for _kind, margin in _related(part, ("header", "footer"))]
    lettered = list(dict.fromkeys(line for line in told if any(map(str.isalpha, line))))
    if not lettered:
        return []
    quoted = [f"“{line[:_QUOTED]}{'…' * (len(line) > _QUOTED)}”" for line in lettered[:_TOLD]]
    return [f"the page headers and footers were not read: {', '.join(quoted)}{', …' * (len(lettered) > _TOLD)}"]


def _related(part: Any, kinds: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for relation in part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in kinds and not relation.is_external:
            yield kind, relation.target_part
