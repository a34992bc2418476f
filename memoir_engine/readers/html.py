"""Read HTML: its visible text as paragraphs, with headings, title, author and date.

Scripts, styles and navigation are left out; preformatted text keeps its lines; the cells of a table row are separated by
a bar. Invariant: nothing is fetched and nothing is run; no tree is built (one of 5 MB took 10 s and 400 MB), and nothing
recurses, however deep the page is.
Source: DESIGN §8 (files.read), §12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memoir_engine.readers.charset import canonical_encoding
from memoir_engine.readers.document import Document, Flow, fields_of, own_words

_UNSEEN = frozenset("script style template noscript head nav svg canvas iframe object audio video select button".split())
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html main ol p "
    "pre section summary table ul caption thead tbody tfoot".split()
)
_LINES = frozenset(("br", "li", "tr"))
_CELLS = frozenset(("td", "th"))
_PARTING = _BLOCKS | _LINES | _CELLS  # between two words; other elements may stand within one
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
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
        else:
            self._in_pre += name == "pre"
            self.separate(name)
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

    def separate(self, name: str) -> None:
        if name in _BLOCKS:
            self.flow.break_block()
        elif name in _LINES:
            self.flow.break_line()
