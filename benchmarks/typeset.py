"""PDFs set with known contents: columns, tables, running heads, captions; for tests of how they are read.

Set with reportlab, whose paragraphs are broken into lines by itself; soft hyphens show where words may be parted.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib.colors import black
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    KeepTogether,
    NextPageTemplate,
    PageTemplate,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus import Paragraph as Set

TEXT = ParagraphStyle("text", fontName="Times-Roman", fontSize=10, leading=12, alignment=4, embeddedHyphenation=1)
INDENTED = ParagraphStyle("indented", TEXT, firstLineIndent=14)
SPACED = ParagraphStyle("spaced", TEXT, spaceAfter=7)
RAGGED = ParagraphStyle("ragged", SPACED, alignment=0, fontName="Helvetica")
HEAD = ParagraphStyle("head", TEXT, fontName="Times-Bold", fontSize=14, leading=17, spaceBefore=10, spaceAfter=6, alignment=0)
TITLE = ParagraphStyle("title", HEAD, fontSize=20, leading=24, alignment=1)
CAPTION = ParagraphStyle("caption", TEXT, fontSize=8, leading=10, spaceBefore=4, spaceAfter=8)
GRID = TableStyle(
    [("GRID", (0, 0), (-1, -1), 0.5, black), ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"), ("VALIGN", (0, 0), (-1, -1), "TOP")]
)
BOOK = TableStyle(
    [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEABOVE", (0, 0), (-1, 0), 1, black),
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, black),
        ("LINEBELOW", (0, -1), (-1, -1), 1, black),
    ]
)
UNDER = TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.5, black)])
OPEN = TableStyle([])
_WORDS = (
    "harvest river council engine letter winter garden measure harbour signal teacher bridge market reason village captain "
    "paper window question journey season station history machine country morning evening industry weather committee railway "
    "remember consider establish continue describe arrive discover believe separate investigate determine understand "
    "ancient narrow distant careful northern public steady modern wooden general important considerable"
).split()
_PARTS = {"committee": "com\u00admit\u00adtee", "remember": "re\u00admem\u00adber", "establish": "es\u00adtab\u00adlish"}
_PARTS |= {
    "investigate": "in\u00adves\u00adti\u00adgate",
    "determine": "de\u00adter\u00admine",
    "understand": "un\u00adder\u00adstand",
}
_PARTS |= {
    "considerable": "con\u00adsid\u00ader\u00adable",
    "important": "im\u00adpor\u00adtant",
    "industry": "in\u00addus\u00adtry",
}


class Picture(Flowable):  # type: ignore[misc]  # reportlab has no types
    """A drawing without words."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height

    def draw(self) -> None:
        self.canv.circle(self.width / 2, self.height / 2, self.height / 2 - 2)


def prose(seed: int, words: int) -> str:
    """Make a paragraph of sentences, the same every time."""
    chance, out = random.Random(seed), list[str]()
    while len(out) < words:
        sentence = [chance.choice(_WORDS) for _ in range(chance.randint(7, 14))]
        out += [sentence[0].capitalize(), *sentence[1:-1], f"{sentence[-1]}."]
    return " ".join(out)


def hyphenated(text: str) -> str:
    """Return a text with soft hyphens in its long words."""
    return " ".join(
        _PARTS.get(word.strip("."), word) + ("." if word.endswith(".") else "") if word.strip(".") in _PARTS else word
        for word in text.split(" ")
    )


def typeset(
    story: Sequence[Any],
    *,
    columns: int = 1,
    gap: float = 14,
    head: Callable[[int], str] | None = None,
    foot: Callable[[int], str] | None = None,
    top: float = 0,
    outline: bool = False,
) -> bytes:
    """Set a story on A4. top: height of a frame across the first page's columns. head, foot: of a page, by its number from 1."""
    width, height = A4
    margin = 2 * cm
    inner = width - 2 * margin

    def decorate(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 9)
        if head is not None and head(document.page):
            canvas.drawString(margin, height - 1.2 * cm, head(document.page))
        if foot is not None and foot(document.page):
            canvas.drawCentredString(width / 2, 1.0 * cm, foot(document.page))

    def frames(bottom_of_top: float) -> list[Frame]:
        each = (inner - gap * (columns - 1)) / columns
        tall = height - 2 * margin - bottom_of_top
        return [Frame(margin + at * (each + gap), margin, each, tall, 0, 0, 0, 0) for at in range(columns)]

    out = io.BytesIO()
    document = BaseDocTemplate(out, pagesize=A4)
    later = PageTemplate("later", frames(0), onPage=decorate)
    first = PageTemplate("first", [Frame(margin, height - margin - top, inner, top, 0, 0, 0, 0), *frames(top)], onPage=decorate)
    document.addPageTemplates([first, later] if top else [later])
    document.build([NextPageTemplate("later"), *story] if top else list(story))
    return out.getvalue()


def table(rows: Sequence[Sequence[str]], style: TableStyle, widths: Sequence[float] | None = None) -> Any:
    cells = [[Set(cell, ParagraphStyle("cell", TEXT, alignment=0)) for cell in row] for row in rows] if widths else rows
    return Table([list(row) for row in cells], colWidths=widths, style=style)


__all__ = [
    "BOOK",
    "CAPTION",
    "FrameBreak",
    "GRID",
    "HEAD",
    "INDENTED",
    "KeepTogether",
    "OPEN",
    "Picture",
    "RAGGED",
    "SPACED",
    "Set",
]
__all__ += ["Spacer", "TEXT", "TITLE", "hyphenated", "prose", "table", "typeset"]
