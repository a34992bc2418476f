"""DOCX: paragraphs, lists and tables in order, notes behind them, headings by their styles, properties of the document.

Invariant: the archive's sizes are looked at before anything in it is unpacked. Cells of a table row are parted by a
bar, merged cells are told once. Source: DESIGN §8 (files.read), §12 (archive bombs).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from memoir_engine.core.errors import FileUnreadable
from memoir_engine.core.results import Heading
from memoir_engine.readers.document import Document, Flow, iso_date, own_words

# === docx_words: What a reader of a DOCX sees of its text, out of the elements that hold it.
#
# Everything is descended into but what is known to be no text: so words in an insertion, a content control, a field, a
# link or
# a tag are read where they stand. Left out are what was deleted or moved away, prompts that wait for an answer, tables of
# contents, the readings above signs, and the copy of a text box for older programs. The words of a text box follow its
# paragraph; those of a note stand behind the text, with the mark "[1]" in both places.
# Source: ECMA-376 part 1 §17, part 3 §10 (alternate content).


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
_UNREAD = frozenset(_W + name for name in "del moveFrom pPr rPr rt sdtPr sdtEndPr tblPr tblGrid trPr tcPr".split())
_SIGNS = {_W + "tab": "\t", _W + "ptab": "\t", _W + "cr": "\n", _W + "noBreakHyphen": "-"}
_TEXT = frozenset((_W + "t", _MATHS + "t"))
_NOTES = {_W + "footnoteReference": "footnotes", _W + "endnoteReference": "endnotes"}
_BOX = _W + "txbxContent"

Notes = Mapping[str, Mapping[str, Any]]  # "footnotes" and "endnotes", each by its id


@dataclass
class Words:
    """Written to `flow`. styles: names by their ids."""

    styles: Mapping[str | None, str]
    notes: Notes
    flow: Flow = field(default_factory=Flow)
    _noted: list[Any] = field(default_factory=list)  # the notes that marks stand for, in order

    def write(self, body: Any) -> None:
        """The body, then its notes."""
        self._blocks(body, self.flow)
        for number, note in enumerate(self._noted, start=1):  # a note may refer to another, which is told after it
            self.flow.insert(f"[{number}] {self.told(note)}".rstrip())

    def told(self, blocks: Any) -> str:
        """Blocks as a text by themselves."""
        flow = Flow()
        self._blocks(blocks, flow)
        return flow.text

    def _blocks(self, within: Any, flow: Flow) -> None:
        for block in _found(within, ("p", "tbl")):
            flow.break_block()
            if block.tag == _W + "p":
                self._paragraph(block, flow)
            else:
                self._table(block, flow)

    def _paragraph(self, paragraph: Any, flow: Flow) -> None:
        boxes: list[Any] = []
        marks: list[str] = []
        words = "".join(self._inline(paragraph, boxes, marks))
        style = self.styles.get(_value(paragraph, "pPr/pStyle"), "")
        found = _HEADING.match(style)
        if found or style == "Title":
            _heading(flow, int(found[1]) if found else 1, words, marks)
        else:
            _lines(flow, words, listed=style.startswith("List"))
        for box in boxes:
            self._blocks(box, flow)

    def _inline(self, within: Any, boxes: list[Any], marks: list[str]) -> Iterator[str]:
        for each in _seen(within):
            if each.tag in _TEXT:
                yield each.text or ""
            elif each.tag in _SIGNS:
                yield _SIGNS[each.tag]
            elif each.tag == _W + "br":
                yield "\n" if each.get(_W + "type", "textWrapping") == "textWrapping" else ""
            elif each.tag in _NOTES:
                yield self._mark(each, marks)
            elif each.tag == _BOX:
                boxes.append(each)
            else:
                yield from self._inline(each, boxes, marks)

    def _mark(self, reference: Any, marks: list[str]) -> str:
        note = self.notes[_NOTES[reference.tag]].get(reference.get(_W + "id"))
        if note is None:
            return ""
        self._noted.append(note)
        marks.append(f"[{len(self._noted)}]")
        return marks[-1]

    def _table(self, table: Any, flow: Flow) -> None:
        for cells in self._rows(table):
            for cell in cells:
                flow.add(f"{cell} | ")
            flow.break_line()

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """A cell that is merged downwards is told in each of its rows, one merged sideways once."""
        above: dict[int, str] = {}
        for row in _found(table, ("tr",)):
            if row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            column, cells = _number(row, "trPr/gridBefore", 0), []
            for cell in _found(row, ("tc",)):
                merged = cell.find(f"{_W}tcPr/{_W}vMerge")
                if merged is None or merged.get(_W + "val") == "restart" or column not in above:
                    above[column] = self._cell(cell)
                cells.append(above[column])
                column += _number(cell, "tcPr/gridSpan", 1)
            yield cells

    def _cell(self, cell: Any) -> str:
        """In one line: the cells of a table within it are parted by commas, its rows by semicolons."""
        words = []
        for block in _found(cell, ("p", "tbl")):
            if block.tag == _W + "p":
                flow = Flow()
                self._paragraph(block, flow)
                words += flow.text.split()
            else:
                words.append("; ".join(", ".join(filter(None, cells)) for cells in self._rows(block)))
        return " ".join(words)


def _heading(flow: Flow, level: int, words: str, marks: Iterable[str]) -> None:
    """The marks of notes stand in the text, and not in what the heading is called."""
    text = called = " ".join(words.split())
    for mark in marks:
        called = " ".join(called.replace(mark, "", 1).split())
    if called:
        flow.insert(text, (Heading(level, called, 0),))


def _lines(flow: Flow, words: str, *, listed: bool) -> None:
    lines = words.split("\n")
    if listed:
        flow.break_line()
        lines[0] = f"- {lines[0]}" if lines[0].strip() else ""
    for line in lines:
        flow.add(line)
        flow.break_line()


def _found(within: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Elements of these names, also where a content control or a change that was kept holds them."""
    wanted = tuple(_W + name for name in names)
    for each in _seen(within):
        if each.tag in wanted:
            yield each
        else:
            yield from _found(each, names)


def _seen(within: Any) -> Iterator[Any]:
    """What an element holds that may have text; comments of the XML have no name of their own."""
    for each in within:
        if not isinstance(each.tag, str) or each.tag in _UNREAD:
            continue
        if each.tag == _MC + "AlternateContent":
            yield from each[:1]
        elif each.tag != _W + "sdt" or _is_answer(each):
            yield each


def _is_answer(control: Any) -> bool:
    if control.find(f"{_W}sdtPr/{_W}showingPlcHdr") is not None:
        return False
    return _value(control, "sdtPr/docPartObj/docPartGallery") != "Table of Contents"


def _value(element: Any, path: str) -> str | None:
    held = element.find("/".join(_W + name for name in path.split("/")))
    return None if held is None else held.get(_W + "val")


def _number(element: Any, path: str, otherwise: int) -> int:
    value = _value(element, path) or ""
    return int(value) if value.isdecimal() and len(value) < 5 else otherwise


# === docx


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
