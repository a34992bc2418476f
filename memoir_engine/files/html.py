"""HTML: what a reader sees of it, as paragraphs, with headings, title, author and date.

Scripts, styles and navigation are left out; preformatted text keeps its lines; the cells of a table row are parted by
a bar. Invariant: nothing is fetched and nothing is run; the tree is walked without recursion, however deep it is.
Source: issue 2 "Text".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from memoir_engine.files.document import Document
from memoir_engine.files.flow import Flow
from memoir_engine.files.metadata import fields_of, one_line

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

_UNSEEN = frozenset("script style template noscript head nav svg canvas iframe object audio video select button".split())
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html main ol p "
    "pre section summary table ul caption thead tbody tfoot".split()
)
_LINES = frozenset(("br", "li", "tr"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_META = {
    "author": "author",
    "article:author": "author",
    "dc.creator": "author",
    "date": "date",
    "dc.date": "date",
    "article:published_time": "date",
    "og:title": "title",
    "dc.title": "title",
}
_Step = tuple[Literal["open", "close"], "Tag"] | tuple[Literal["text"], str]


def read_html(data: bytes, *, encoding: str | None = None) -> Document:
    """encoding: what it is in, whatever the page itself says."""
    from bs4 import BeautifulSoup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of text that looks like a file name or a URL
        soup = BeautifulSoup(data, "lxml", from_encoding=encoding)
    flow = Flow()
    _fill(flow, soup)
    fields = fields_of(_meta(soup))
    title = one_line(soup.title.get_text()) if soup.title else None
    first = next((heading.text for heading in flow.headings if heading.level == 1), None)
    found = str(soup.original_encoding) if soup.original_encoding else None
    return Document(
        "html", flow.text, title or fields.title or first, fields.author, fields.dated, tuple(flow.headings), encoding=found
    )


def _fill(flow: Flow, soup: BeautifulSoup) -> None:
    preformatted = 0
    for step in _walk(soup):
        if step[0] == "text":
            flow.add(step[1], verbatim=preformatted > 0)
            continue
        edge, tag = step
        preformatted += (tag.name == "pre") * (1 if edge == "open" else -1)
        if tag.name in _HEADINGS:
            if edge == "open":
                flow.heading(int(tag.name[1]), tag.get_text(" "))
        else:
            _break(flow, tag.name, edge)


def _break(flow: Flow, name: str, edge: str) -> None:
    if name in _BLOCKS:
        flow.break_block()
    elif name in _LINES:
        flow.break_line()
        if name == "li" and edge == "open":
            flow.add("- ")
    elif name in ("td", "th") and edge == "close":
        flow.add(" | ")


def _walk(soup: BeautifulSoup) -> Iterator[_Step]:
    """Opening and closing of what is seen, and the text between, in order. Of a heading only its opening and closing."""
    from bs4.element import NavigableString, PreformattedString, Tag

    stack: list[tuple[Tag, Iterator[object]]] = [(soup, iter(soup.contents))]
    while stack:
        node = next(stack[-1][1], None)
        if node is None:
            yield "close", stack.pop()[0]
        elif isinstance(node, Tag) and node.name not in _UNSEEN:
            yield "open", node
            stack.append((node, iter(() if node.name in _HEADINGS else node.contents)))
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            yield "text", str(node)


def _meta(soup: BeautifulSoup) -> dict[str, str]:
    values: dict[str, str] = {}
    for meta in soup.find_all("meta"):
        name = str(meta.get("name") or meta.get("property") or "").lower()
        if name in _META and meta.get("content"):
            values.setdefault(_META[name], str(meta["content"]))
    return values
