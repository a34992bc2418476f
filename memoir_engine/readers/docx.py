"""Read DOCX: paragraphs, lists and tables in order, then the notes; headings by their styles; document properties.

Every element is descended into unless it is known to hold no text, so words in an insertion, a content control, a field, a
link or a tag are read in place. Left out are deleted or moved text, placeholder prompts, tables of contents, ruby readings,
and the copy of a text box for older programs. The words of a text box follow its paragraph; those of a note follow the text,
with the mark "[1]" in both places. Tables are written as Markdown tables.
Invariant: the archive's sizes are checked before anything in it is unpacked.
Source: DESIGN §8 (files.read), §12 (archive bombs); ECMA-376 part 1 §17, part 3 §10 (alternate content).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memoir_engine.core.results.documents import Heading
from memoir_engine.readers.archive import open_office
from memoir_engine.readers.document import Document, Flow, iso_date, left_unread, markdown_table, own_words

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HEADING = re.compile(r"heading (\d)$", re.IGNORECASE)
_UNREAD = frozenset(_W + name for name in "del moveFrom pPr rPr rt sdtPr sdtEndPr tblPr tblGrid trPr tcPr".split())
_SIGNS = {_W + "tab": "\t", _W + "ptab": "\t", _W + "cr": "\n", _W + "noBreakHyphen": "-"}
_TEXT = frozenset((_W + "t", _MATHS + "t"))
_NOTES = {_W + "footnoteReference": "footnotes", _W + "endnoteReference": "endnotes"}
_MOST_COLUMNS = 200  # that one cell spans
_BOX = _W + "txbxContent"

Notes = Mapping[str, Mapping[str, Any]]  # "footnotes" and "endnotes", each by its id


@dataclass
class DocxText:
    """The text of a document, written to `flow`. styles: id → name."""

    styles: Mapping[str | None, str]
    notes: Notes
    flow: Flow = field(default_factory=Flow)
    _noted: list[Any] = field(default_factory=list)  # notes referred to so far, in order

    def write(self, body: Any) -> None:
        """Write the body, then its notes."""
        self.write_blocks(body, self.flow)
        for number, note in enumerate(self._noted, start=1):  # a note may refer to another, which follows it
            self.flow.insert(f"[{number}] {self.text_of(note)}".rstrip())

    def text_of(self, blocks: Any) -> str:
        """Return the text of blocks, apart from `flow`."""
        flow = Flow()
        self.write_blocks(blocks, flow)
        return flow.text

    def write_blocks(self, within: Any, flow: Flow) -> None:
        for block in elements(within, ("p", "tbl")):
            flow.break_block()
            if block.tag == _W + "p":
                self.write_paragraph(block, flow)
            else:
                self.write_table(list(self.rows(block)), flow)

    def write_table(self, rows: list[list[str]], flow: Flow) -> None:
        """Write rows as a Markdown table, a single row or column as text with bars between the cells."""
        if len(rows) > 1 and max(map(len, rows)) > 1:
            flow.insert(markdown_table(rows))
            return
        for cells in rows:
            flow.add("".join(f"{cell} | " for cell in cells))
            flow.break_line()

    def write_paragraph(self, paragraph: Any, flow: Flow) -> None:
        boxes: list[Any] = []
        marks: list[str] = []
        words = "".join(self.inline(paragraph, boxes, marks))
        style = self.styles.get(_value(paragraph, "pPr/pStyle"), "")
        heading = _HEADING.match(style)
        if heading or style == "Title":
            text = title = " ".join(words.split())
            for mark in marks:  # marks of notes stay in the text but not in the heading's name
                title = " ".join(title.replace(mark, "", 1).split())
            if title:
                flow.insert(text, (Heading(int(heading[1]) if heading else 1, title, 0),))
        else:
            lines = words.split("\n")
            if style.startswith("List"):
                flow.break_line()
                lines[0] = f"- {lines[0]}" if lines[0].strip() else ""
            for line in lines:
                flow.add(line)
                flow.break_line()
        for box in boxes:
            self.write_blocks(box, flow)

    def inline(self, within: Any, boxes: list[Any], marks: list[str]) -> Iterator[str]:
        """Yield the words of a paragraph; its text boxes and the marks of its notes are added to the lists."""
        for element in readable(within):
            if element.tag in _TEXT:
                yield element.text or ""
            elif element.tag in _SIGNS:
                yield _SIGNS[element.tag]
            elif element.tag == _W + "br":
                yield "\n" if element.get(_W + "type", "textWrapping") == "textWrapping" else ""
            elif element.tag in _NOTES:
                note = self.notes[_NOTES[element.tag]].get(element.get(_W + "id"))
                if note is not None:
                    self._noted.append(note)
                    marks.append(f"[{len(self._noted)}]")
                    yield marks[-1]
            elif element.tag == _BOX:
                boxes.append(element)
            else:
                yield from self.inline(element, boxes, marks)

    def rows(self, table: Any) -> Iterator[list[str]]:
        """Yield the cells of each row.

        A vertically merged cell is repeated in each of its rows, a horizontally merged one is followed by empty ones.
        """
        above: dict[int, str] = {}
        for row in elements(table, ("tr",)):
            if row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            column, cells = _number(row, "trPr/gridBefore", 0), []
            for cell in elements(row, ("tc",)):
                merged = cell.find(f"{_W}tcPr/{_W}vMerge")
                if merged is None or merged.get(_W + "val") == "restart" or column not in above:
                    above[column] = self.cell_text(cell)
                wide = min(_number(cell, "tcPr/gridSpan", 1), _MOST_COLUMNS)
                cells += [above[column], *[""] * (wide - 1)]
                column += wide
            yield cells

    def cell_text(self, cell: Any) -> str:
        """Return a cell in one line; the cells of a table within it are separated by commas, its rows by semicolons."""
        words = []
        for block in elements(cell, ("p", "tbl")):
            if block.tag == _W + "p":
                flow = Flow()
                self.write_paragraph(block, flow)
                words += flow.text.split()
            else:
                words.append("; ".join(", ".join(filter(None, cells)) for cells in self.rows(block)))
        return " ".join(words)


def elements(within: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the outermost elements of these names, also those in a content control or an accepted change."""
    tags = tuple(_W + name for name in names)
    for element in readable(within):
        if element.tag in tags:
            yield element
        else:
            yield from elements(element, names)


def readable(within: Any) -> Iterator[Any]:
    """Yield the children that may hold text. The tag of an XML comment is not a string."""
    for element in within:
        if not isinstance(element.tag, str) or element.tag in _UNREAD:
            continue
        if element.tag == _MC + "AlternateContent":
            yield from element[:1]
        elif element.tag != _W + "sdt":
            yield element
        elif element.find(f"{_W}sdtPr/{_W}showingPlcHdr") is None:
            if _value(element, "sdtPr/docPartObj/docPartGallery") != "Table of Contents":
                yield element


def _value(element: Any, path: str) -> str | None:
    leaf = element.find("/".join(_W + name for name in path.split("/")))
    return None if leaf is None else leaf.get(_W + "val")


def _number(element: Any, path: str, otherwise: int) -> int:
    value = _value(element, path) or ""
    return int(value) if value.isdecimal() and len(value) < 5 else otherwise


_TEMPLATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)  # creation date of python-docx's own template


def read_docx(data: bytes, name: str) -> Document:
    document = _open(data, name)
    notes, warnings = _notes(document.part)
    words = DocxText({None: "", **{style.style_id: style.name or "" for style in document.styles}}, notes)
    words.write(document.element.body)
    flow, properties = words.flow, document.core_properties
    first = next((heading.text for heading in flow.headings if heading.level == 1), None)
    title, author = own_words(properties.title) or first, own_words(properties.author)
    moments: tuple[Any, ...] = (properties.created, properties.modified)
    if properties.last_modified_by == "python-docx" and properties.created is None:
        moments = ()  # there are no properties; the library gives now
    dated = next((iso_date(moment) for moment in moments if moment and moment != _TEMPLATE), None)
    warnings += _margins(document.part, words)
    return Document("docx", flow.text, title, author, dated, tuple(flow.headings), warnings=tuple(warnings))


def _open(data: bytes, name: str) -> Any:
    """Open a document after a check of its archive's sizes. Raises FileUnreadable (E203)."""
    import docx

    return open_office(data, name, "DOCX", "it is broken or not a document ({kind})", docx.Document)


def _notes(part: Any) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return footnotes and endnotes by id, and a warning for each kind that could not be read."""
    from docx.oxml import parse_xml

    notes: dict[str, dict[str, Any]] = {"footnotes": {}, "endnotes": {}}
    warnings = []
    for kind, related in _related(part, tuple(notes)):
        try:
            notes[kind] = {note.get(_W + "id"): note for note in parse_xml(related.blob)}
        except (ValueError, SyntaxError):
            warnings.append(f"the {kind} could not be read")
    return notes, warnings


def _margins(part: Any, words: DocxText) -> list[str]:
    """Return a warning that quotes the headers and footers: they repeat on every page, so they are not read."""
    margins = [" ".join(words.text_of(margin.element).split()) for _kind, margin in _related(part, ("header", "footer"))]
    return left_unread(margins)


def _related(part: Any, kinds: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for relation in part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in kinds and not relation.is_external:
            yield kind, relation.target_part
