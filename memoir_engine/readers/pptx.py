"""Read PPTX: each slide with its title, its words, its tables, and the notes of its speaker behind them.

Shapes come in the order of the file, those of a group in their place. Hidden slides are read, too, and a warning names them.
Invariant: `pages[i]` is the offset at which slide i + 1 begins, at the end of what precedes an empty one.
Source: DESIGN §8 (files.read), §12; decision 0126.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memoir_engine.readers.archive import open_office
from memoir_engine.readers.document import Document, Flow, iso_date, own_words, write_rows

NOTES = "Notes:"
_REPEATED = frozenset(("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER"))  # placeholders that stand on every slide
_DEEPEST = 50  # groups within groups


def read_pptx(data: bytes, name: str) -> Document:
    """Read a presentation. Raises FileUnreadable (E203)."""
    deck = open_deck(data, name)
    flow, pages, hidden = Flow(), [], []
    for number, slide in enumerate(deck.slides, start=1):
        pages.append(flow.part(slide_text(slide)))
        if slide.element.get("show") == "0":
            hidden.append(f"slide {number} is hidden in the file; it was read")
    properties = deck.core_properties
    first = next((heading.text for heading in flow.headings), None)
    is_template = properties.last_modified_by == "Steve Canny"  # python-pptx's own, with its date
    dated = None if is_template else iso_date(properties.created)
    return Document(
        "pptx",
        flow.text,
        own_words(properties.title) or first,
        own_words(properties.author),
        dated,
        tuple(flow.headings),
        tuple(pages),
        warnings=tuple(hidden),
    )


def open_deck(data: bytes, name: str) -> Any:
    import pptx

    return open_office(data, name, "PPTX", "it is broken or not a presentation ({kind})", pptx.Presentation)


def slide_text(slide: Any) -> Flow:
    flow = Flow()
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        flow.heading(1, title.text_frame.text)
    for shape in shapes_of(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        flow.break_block()
        if getattr(shape, "has_table", False):
            write_rows(flow, [[cell.text for cell in row.cells] for row in shape.table.rows])
        elif shape.has_text_frame and not is_repeated(shape):
            write_lines(flow, shape.text_frame)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        flow.break_block()
        flow.add(NOTES)
        flow.break_line()
        write_lines(flow, notes)
    return flow


def shapes_of(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth < _DEEPEST:
                yield from shapes_of(shape.shapes, depth + 1)
        else:
            yield shape


def is_repeated(shape: Any) -> bool:
    return bool(shape.is_placeholder) and getattr(shape.placeholder_format.type, "name", "") in _REPEATED


def write_lines(flow: Flow, frame: Any) -> None:
    """Write paragraphs as lines; those that are set in are entries of a list."""
    for paragraph in frame.paragraphs:
        for line in paragraph.text.split("\v"):
            if line.strip():
                flow.add(f"- {line.strip()}" if paragraph.level else line.strip())
                flow.break_line()
