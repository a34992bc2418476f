"""DOCX: paragraphs, lists and tables in order, headings by their styles, properties of the document.

Invariant: the archive's sizes are looked at before anything in it is unpacked. Cells of a table row are parted by a
bar, merged cells are told once. Source: DESIGN §8 (files.read), §12 (archive bombs).
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any

from memoir_engine.errors import FileUnreadable
from memoir_engine.files.dates import iso_date
from memoir_engine.files.document import Document
from memoir_engine.files.flow import Flow
from memoir_engine.files.metadata import one_line

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_ENTRIES = 5_000
MAX_UNPACKED = 400_000_000  # bytes; a DOCX of 50 MB is pictures, its text rarely 10
MAX_RATIO = 200  # text packs 10 to 1, tables of zeros 50 to 1
_SMALL = 10_000_000  # below this no ratio matters
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)


def read_docx(data: bytes, name: str) -> Document:
    _check_archive(data, name)
    document = _open(data, name)
    flow = Flow()
    for block in document.iter_inner_content():
        flow.break_block()
        if hasattr(block, "rows"):
            _table(flow, block)
        else:
            _paragraph(flow, block)
    known = document.core_properties
    first = next((heading.text for heading in flow.headings if heading.level == 1), None)
    title, author = one_line(known.title) or first, one_line(known.author)
    return Document("docx", flow.text, title, author, iso_date(known.created or known.modified), tuple(flow.headings))


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


def _paragraph(flow: Flow, paragraph: Paragraph) -> None:
    style = str(paragraph.style.name or "") if paragraph.style is not None else ""
    found = _HEADING.match(style)
    if found or style == "Title":
        flow.heading(int(found[1]) if found else 1, paragraph.text)
        return
    lines = paragraph.text.split("\n")
    if style.startswith("List"):
        flow.break_line()
        lines[0] = f"- {lines[0]}" if lines[0].strip() else ""
    for line in lines:
        flow.add(line)
        flow.break_line()


def _table(flow: Flow, table: Table) -> None:
    for row in table.rows:
        seen: list[Any] = []
        for cell in row.cells:
            if not any(cell._tc is other for other in seen):  # a merged cell is given once for each place it covers
                seen.append(cell._tc)
                flow.add(f"{' '.join(cell.text.split())} | ")
        flow.break_line()
