"""PDFs read by this product and by libraries of permissive licences, against what was set: paragraphs, order, tables, heads.

Twelve documents are set from the long public texts: reports and papers in one to three columns, justified and ragged, with
indented and spaced paragraphs, parted words, running heads, page numbers, captions, and tables with all lines, with level lines
and with none. What is in them is known, so nothing is judged by hand.

A paragraph is intact if a block of the reading (between blank lines) is just that paragraph. The order counts pairs of
neighbouring paragraphs that are each in one piece, one after the other, letters and digits compared. A row is whole if one line
of the reading holds all of its cells in order. A head or page number is removed if no line is just that.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import Any

from benchmarks import data, frame
from benchmarks import typeset as t
from benchmarks.frame import Size, figure, quiet
from memoir_engine import Memory

FEATURES = ("ingest",)
READS = ("longtext",)
LENGTH = 40  # paragraphs of a document
PEERS = ("pypdf", "pdfplumber", "pdfminer.six", "liteparse", "pdf-oxide")
OURS = "memoir"
MEASURES = ("paragraphs intact", "neighbours in order", "table rows whole", "heads and numbers removed")
TABLES = (
    [["Year", "Bills", "Signed", "Vetoed"], ["1949", "128", "120", "8"], ["1955", "97", "95", "2"], ["1983", "141", "139", "2"]],
    [["Office", "Place", "Opened"], ["Treasury", "Washington", "1798-04-30"], ["Census", "Suitland", "1902-07-01"]]
    + [["Parks", "Denver", "1916-08-25"], ["Standards", "Gaithersburg", "1901-03-03"]],
    [["Measure", "Result"], ["Answered within a day", "81 %"], ["Answered within a week", "96 %"], ["Not answered", "4 %"]],
)

Read = Callable[[bytes], str]


@dataclass(frozen=True)
class Made:
    """A document that was set, and what is in it, in order."""

    name: str
    pdf: bytes
    paragraphs: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()
    heads: tuple[str, ...] = ()


@dataclass
class Counts:
    """Of each measure: what holds, and of how many."""

    held: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))
    all: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))

    def add(self, measure: str, claims: Sequence[bool]) -> None:
        self.held[measure] += sum(claims)
        self.all[measure] += len(claims)

    def share(self, measure: str) -> float:
        return 100 * self.held[measure] / max(1, self.all[measure])


def main(size: Size = "full") -> dict[str, Any]:
    documents = list(made())[: None if size == "full" else 2]
    counted: dict[str, Counts] = {}
    with quiet():
        for name, read in _readers().items():
            counted[name] = Counts()
            for document in documents:
                _count(document, read(document.pdf), counted[name])
    return {
        "title": "PDFs with known contents, read",
        "sizes": {
            "documents": len(documents),
            "paragraphs": counted[OURS].all[MEASURES[0]],
            "rows": counted[OURS].all[MEASURES[2]],
        },
        "figures": [
            figure(f"{measure}, {name}", [counts.share(measure)], "%", better="higher", aim=95.0 if name == OURS else None)
            for measure in MEASURES
            for name, counts in counted.items()
        ],
        "notes": [f"{name}: not installed" for name in frame.missing(PEERS)],
        "packages": (*PEERS, "pypdfium2"),
    }


def made() -> Iterator[Made]:
    """Set the documents, the same every time."""
    texts = _paragraphs()
    at = 0
    for number, (columns, style, rules, running, top) in enumerate(_LAYOUTS):
        own = texts[at : at + LENGTH]
        at = (at + LENGTH) % max(1, len(texts) - LENGTH)
        rows = TABLES[number % len(TABLES)]
        yield _set(number, own, rows, columns=columns, style=style, rules=rules, running=running, top=top)


_LAYOUTS = (
    (1, t.SPACED, t.GRID, True, 0),
    (1, t.INDENTED, t.BOOK, True, 0),
    (1, t.RAGGED, t.OPEN, True, 0),
    (2, t.INDENTED, t.BOOK, True, 120),
    (2, t.SPACED, t.GRID, True, 0),
    (2, t.INDENTED, t.OPEN, False, 120),
    (2, t.RAGGED, t.BOOK, True, 0),
    (3, t.INDENTED, None, True, 90),
    (3, t.SPACED, None, True, 0),
    (1, t.SPACED, t.BOOK, False, 0),
    (2, t.INDENTED, t.GRID, True, 120),
    (3, t.RAGGED, None, False, 90),
)


def _set(
    number: int,
    texts: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    columns: int,
    style: Any,
    rules: Any,
    running: bool,
    top: float,
) -> Made:
    title, caption, section = (
        f"Report {number + 1} on the State of the Offices",
        f"Table {number + 1}: What was counted.",
        "2 Findings",
    )
    story: list[Any] = [t.Set(title, t.TITLE), *([t.FrameBreak()] if top else [])]
    gold = [title]
    for at, text in enumerate(texts):
        if at == 5 and rules is not None:
            story += [t.Set(caption, t.CAPTION), t.table(rows, rules), t.Spacer(1, 12)]
            gold.append(caption)
        if at == 8:
            story.append(t.Set(section, t.HEAD))
            gold.append(section)
        story.append(t.Set(_parted(text), style))
        gold.append(text)

    def head(page: int) -> str:
        return f"Report {number + 1}" if page % 2 else "State of the Offices"

    pdf = t.typeset(story, columns=columns, head=head if running else None, foot=str if running else None, top=top)
    pages = len(re.findall(rb"/Type /Page\b", pdf))
    heads = (f"Report {number + 1}", "State of the Offices", *map(str, range(1, pages + 1))) if running else ()
    return Made(f"{number}", pdf, tuple(gold), tuple(map(tuple, rows)) if rules is not None else (), heads)


def _paragraphs() -> list[str]:
    """Return paragraphs of 40 to 160 plain words, none twice."""
    blocks = (block for name, text in sorted(data.longtexts().items(), reverse=True) for block in re.split(r"\n\s*\n", text))
    joined = (" ".join(block.split()) for block in blocks)
    plain = (text for text in joined if re.fullmatch(r"[A-Z][A-Za-z0-9 ,.;:'()$-]+[.]", text) and 40 <= len(text.split()) <= 160)
    return list(dict.fromkeys(plain))[:400]


def _parted(text: str) -> str:
    """Allow long words to be parted between two consonants."""
    between = r"(?<=[aeiou][bcdfglmnprst])(?=[bcdfglmnprst][aeiou])"
    return " ".join(re.sub(between, "\u00ad", word) if len(word) > 7 and word.islower() else word for word in text.split(" "))


def _count(document: Made, reading: str, counts: Counts) -> None:
    blocks = {_plain(block) for block in re.split(r"\n\s*\n", reading)}
    counts.add(MEASURES[0], [text in blocks for text in document.paragraphs])
    whole = _letters(reading)
    places = [whole.find(_letters(text)) for text in document.paragraphs]
    counts.add(MEASURES[1], [0 <= before < after for before, after in pairwise(places)])
    lines = [_plain(line) for line in reading.split("\n")]
    counts.add(MEASURES[2], [any(_in_order(row, line) for line in lines) for row in document.rows])
    alone = set(lines)
    counts.add(MEASURES[3], [head not in alone for head in document.heads])


def _in_order(cells: Sequence[str], line: str) -> bool:
    at = 0
    for cell in cells:
        at = line.find(cell, at)
        if at < 0:
            return False
        at += len(cell)
    return True


def _plain(text: str) -> str:
    """Return a text in one line, without marks of Markdown, so that a library that writes them has no disadvantage."""
    return " ".join(re.sub(r"^\s*#+ |[*_`\\]", "", text).replace("’", "'").split())


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def _readers() -> dict[str, Read]:
    """Return a reader for each library that is installed; pdfminer.six comes with pdfplumber."""
    theirs: dict[str, tuple[str, Read]] = {
        "pypdf": ("pypdf", _pypdf),
        "pdfminer.six": ("pdfminer.six", _pdfminer),
        "pdfplumber": ("pdfplumber", _pdfplumber),
        "liteparse": ("liteparse", _liteparse),
        "pdf_oxide": ("pdf-oxide", _pdf_oxide),
    }
    absent = set(frame.missing(PEERS))
    return {OURS: _memoir, **{name: read for name, (package, read) in theirs.items() if package not in absent}}


def _memoir(pdf: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=folder, model="offline") as memory:
        stored = memory.ingest_file(pdf, name="report.pdf", contextual_helper="A report.").raise_for_error()
        assert stored.source_id is not None
        return memory.sources.text(stored.source_id)


def _pypdf(pdf: bytes) -> str:
    return "\n\n".join(page.extract_text() for page in import_module("pypdf").PdfReader(io.BytesIO(pdf)).pages)


def _pdfminer(pdf: bytes) -> str:
    text: str = import_module("pdfminer.high_level").extract_text(io.BytesIO(pdf))
    return text


def _pdfplumber(pdf: bytes) -> str:
    with import_module("pdfplumber").open(io.BytesIO(pdf)) as document:
        pages = [
            (page.extract_text(), [" | ".join(cell or "" for cell in row) for table in page.extract_tables() for row in table])
            for page in document.pages
        ]
    return "\n\n".join("\n\n".join([text, "\n".join(rows)]) for text, rows in pages)


def _liteparse(pdf: bytes) -> str:
    parser = import_module("liteparse").LiteParse(ocr_enabled=False, output_format="markdown", quiet=True, num_workers=1)
    return "\n\n".join(page.markdown for page in parser.parse(pdf).pages)


def _pdf_oxide(pdf: bytes) -> str:
    document = import_module("pdf_oxide").PdfDocument.from_bytes(pdf)
    return "\n\n".join(document.to_markdown(page) for page in range(document.page_count()))
