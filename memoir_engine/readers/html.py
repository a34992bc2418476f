"""Read HTML: its visible text as paragraphs, with headings, title, author and date.

Scripts, styles and navigation are left out; preformatted text keeps its lines. A table of short cells is written as a Markdown
table; one that sets a page in place (with tables, headings or long texts in it) as text, with bars between its cells.
Invariant: nothing is fetched and nothing is run; no tree is built (one of 5 MB took 10 s and 400 MB), and nothing recurses,
however deep the page is.
Source: DESIGN §8 (files.read), §12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memoir_engine.readers.charset import canonical_encoding
from memoir_engine.readers.document import Document, Flow, Mark, fields_of, markdown_table, own_words

_UNSEEN = frozenset("script style template noscript head nav svg canvas iframe object audio video select button".split())
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html main ol p "
    "pre section summary table ul caption thead tbody tfoot".split()
)
_LINES = frozenset(("br", "li", "tr"))
_CELLS = frozenset(("td", "th"))
_PARTING = _BLOCKS | _LINES | _CELLS  # between two words; other elements may stand within one
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LONGEST_CELL = 300  # characters
_WIDEST = 100  # columns or rows that one cell spans
_META = dict.fromkeys(("author", "article:author", "dc.creator"), "author")
_META |= dict.fromkeys(("date", "dc.date", "article:published_time"), "date") | dict.fromkeys(("og:title", "dc.title"), "title")


def read_html(data: bytes, *, encoding: str | None = None) -> Document:
    """Read a page. encoding: overrides what the page itself states."""
    from lxml import etree

    markup, used = _decoded(data, encoding)
    page = _Page()
    if markup.strip():
        parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True)
        parser.feed(markup.encode("utf-8", "surrogatepass"))
        parser.close()
    flow, fields = page.flow, fields_of(page.meta)
    first = next((heading.text for heading in flow.headings if heading.level == 1), None)
    title = own_words("".join(page.title)) or fields.title or first
    return Document("html", flow.text, title, fields.author, fields.dated, tuple(flow.headings), encoding=used)


def _decoded(data: bytes, known: str | None) -> tuple[str, str | None]:
    """Decode by the first that fits: the known encoding, a byte order mark, what the page states, what it looks like."""
    from bs4.dammit import EncodingDetector

    detector = EncodingDetector(data, [known] if known else None, is_html=True)
    for label in detector.encodings:
        for encoding in dict.fromkeys((canonical_encoding(label), label)):
            try:
                return detector.markup.decode(encoding), encoding
            except (LookupError, ValueError):
                continue
    return data.decode("utf-8", "replace"), None


@dataclass
class _Table:
    """A table that is being read. sets_page: it holds more than cells of a few words. mark: where it begins in the flow."""

    mark: Mark
    rows: list[list[str]] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)
    sets_page: bool = False
    _cell: list[str] | None = None
    _into: Literal["cell", "caption", ""] = ""
    _wide: int = 1
    _high: int = 1
    _from_above: dict[int, tuple[int, str]] = field(default_factory=dict)  # column → rows still to fill, text

    @property
    def is_data(self) -> bool:
        return not self.sets_page and len(self.rows) > 1 and max(map(len, self.rows)) > 1

    def open(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "tr":
            self.rows.append([])
            self._fill()
        elif name in _CELLS:
            if not self.rows:
                self.rows.append([])
            self._cell, self._into = [], "cell"
            self._wide, self._high = (_span(attributes.get(span)) for span in ("colspan", "rowspan"))
        elif name == "caption":
            self._into = "caption"
        else:
            self.add(" " if name in _PARTING else "")

    def close(self, name: str) -> None:
        if name in _CELLS and self._cell is not None:
            words = " ".join("".join(self._cell).split())
            self.sets_page = self.sets_page or len(words) > _LONGEST_CELL
            column = len(self.rows[-1])
            self.rows[-1] += [words, *[""] * (self._wide - 1)]
            if self._high > 1:
                self._from_above[column] = (self._high - 1, words)
            self._fill()
            self._cell, self._into = None, ""
        elif name == "caption":
            self._into = ""
        else:
            self.add(" " if name in _PARTING else "")

    def add(self, words: str) -> None:
        if self._into == "cell" and self._cell is not None:
            self._cell.append(words)
        elif self._into == "caption":
            self.caption.append(words)

    def _fill(self) -> None:
        """Repeat a cell that goes over several rows in each of them."""
        row = self.rows[-1]
        while len(row) in self._from_above:
            left, words = self._from_above.pop(len(row))
            if left > 1:
                self._from_above[len(row)] = (left - 1, words)
            row.append(words)


def _span(value: str | None) -> int:
    """Return how many columns or rows a cell spans, within reason."""
    return min(max(int(value), 1), _WIDEST) if value is not None and value.strip().isdecimal() and len(value) < 6 else 1


@dataclass
class _Page:
    """Target of the parser: writes what it reports to a flow. The parser closes every element that it opens."""

    flow: Flow = field(default_factory=Flow)
    title: list[str] = field(default_factory=list)  # of the first title
    meta: dict[str, str] = field(default_factory=dict)
    _words: list[str] = field(default_factory=list)  # since the last tag: they come in pieces
    _heading: list[str] = field(default_factory=list)
    _unseen: int = 0  # depth in elements that are not shown; likewise the others
    _in_title: int = 0
    _in_heading: int = 0
    _in_pre: int = 0
    _tables: list[_Table] = field(default_factory=list)  # the open ones, from the outermost

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.flush()
        if name == "meta":
            field_name = (attributes.get("name") or attributes.get("property") or "").lower()
            if field_name in _META and attributes.get("content"):
                self.meta.setdefault(_META[field_name], attributes["content"])
        if self._in_title or (name == "title" and not self.title):
            self._in_title += 1
        if self._unseen or name in _UNSEEN:
            self._unseen += 1
        elif self._in_heading or name in _HEADINGS:
            self._in_heading += 1
            self._heading.append(" " if name in _PARTING else "")
            for table in self._tables[-1:]:
                table.sets_page = True
        else:
            self._in_pre += name == "pre"
            self.separate(name)
            self.open_table_part(name, attributes)
            if name == "li":
                self.flow.add("- ")

    def end(self, name: str) -> None:
        self.flush()
        self._in_title -= self._in_title > 0
        if self._unseen:
            self._unseen -= 1
        elif self._in_heading:
            self._in_heading -= 1
            self._heading.append(" " if name in _PARTING else "")
            if not self._in_heading:
                self.flow.heading(int(name[1]), "".join(self._heading))
                self._heading = []
        else:
            self._in_pre -= name == "pre"
            self.separate(name)
            if name in _CELLS:
                self.flow.add(" | ")
            self.close_table_part(name)

    def data(self, words: str) -> None:
        self._words.append(words)

    def close(self) -> None:
        self.flush()

    def flush(self) -> None:
        if not self._words:
            return
        words = "".join(self._words)
        self._words = []
        if self._in_title:
            self.title.append(words)
        if self._in_heading and not self._unseen:
            self._heading.append(words)
        elif not self._unseen:
            self.flow.add(words, verbatim=self._in_pre > 0)
            for table in self._tables[-1:]:
                table.add(words)

    def open_table_part(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "table":
            for table in self._tables[-1:]:
                table.sets_page = True
            self._tables.append(_Table(self.flow.mark()))
        elif self._tables:
            self._tables[-1].open(name, attributes)

    def close_table_part(self, name: str) -> None:
        if self._tables:
            self._tables[-1].close(name)
        if name == "table" and self._tables:
            table = self._tables.pop()
            if table.is_data:
                self.flow.rewind(table.mark)
                self.flow.break_block()
                self.flow.add(" ".join("".join(table.caption).split()))
                self.flow.insert(markdown_table(table.rows))

    def separate(self, name: str) -> None:
        if name in _BLOCKS:
            self.flow.break_block()
        elif name in _LINES:
            self.flow.break_line()
