"""PDFium's view of a PDF: pages as sheets of words and drawn lines, outline, properties, and a page as a picture.

The one home of pypdfium2. Invariant: a page that cannot be read costs its own words only; what is drawn without end is counted
only up to a bound. Source: decision 0050; DESIGN §12.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image
from pypdfium2 import PdfDocument as PdfDocument

from memoir_engine.core.errors import FileUnreadable
from memoir_engine.readers.sheet import Box, Sheet, Word

MAX_PAGES = 20_000
MAX_CHARS = 200_000  # of a page; a page full of the smallest print has 20,000
MAX_PATHS = 4_000  # drawings of a page; a map has more, a table never
_LOOKED_AT = 20  # pages, for pictures
_SEGMENTS = 400  # of one drawing
_THIN = 2.5  # points; a drawing no thicker is a line
_LOCKED = 4  # FPDF_ERR_PASSWORD
_BOLD = re.compile(r"bold|black|heavy|demi|cmb|-b$|[.-]bd", re.IGNORECASE)
_FIXED = re.compile(r"mono|courier|consol|cmtt|typewriter|menlo|lucidasanstyp|letter ?gothic", re.IGNORECASE)
_FORCE_BOLD, _FIXED_PITCH = 1 << 18, 1  # flags of a font descriptor (ISO 32000-1, table 123)
_HYPHENS = dict.fromkeys((0x02, 0xFFFE), 0x2D)  # PDFium's own marks of a hyphen at the end of a line
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_SIGNS: dict[int, Any] = {**_HYPHENS, **_LIGATURES, **dict.fromkeys((*range(0x02), *range(0x03, 0x20), 0x7F))}


class OutlineEntry(NamedTuple):
    level: int
    title: str
    page: int | None


class Style(NamedTuple):
    bold: bool
    fixed: bool


class Transform(NamedTuple):
    """The map from the coordinates of a page's content to those of a sheet: x' = a·x + c·y + e, y' = b·x + d·y + f."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def open_pdf(data: bytes, name: str) -> PdfDocument:
    """Open a PDF. Raises FileUnreadable (E203)."""
    try:
        document = PdfDocument(data)
        pages = len(document)
    except pypdfium2.PdfiumError as broken:
        locked = getattr(broken, "err_code", None) == _LOCKED
        problem = "it is protected by a password" if locked else "it is broken"
        raise FileUnreadable(name=name, kind="PDF", problem=problem) from broken
    if pages > MAX_PAGES:
        raise FileUnreadable(name=name, kind="PDF", problem=f"it has {pages} pages, more than {MAX_PAGES}")
    return document


def sheets(document: PdfDocument) -> Iterator[Sheet | None]:
    """Yield each page; None for an unreadable one."""
    styles: dict[str, Style] = {}
    for number in range(len(document)):
        yield sheet(document, number, styles)


def sheet(document: PdfDocument, number: int, styles: dict[str, Style] | None = None) -> Sheet | None:
    """Read the page of this number, from 0. styles: of fonts met before, by name."""
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return None
    try:
        width, height = page.get_size()
        transform = page_transform(page, width, height)
        level, aside = page_words(page, transform, {} if styles is None else styles)
        return Sheet(width, height, tuple(level), tuple(page_rules(page, transform)), tuple(aside))
    except pypdfium2.PdfiumError:
        return None
    finally:
        page.close()


def has_pictures(document: PdfDocument) -> bool:
    """Report whether any of the first pages holds a picture; a scan has one on each."""
    for number in range(min(len(document), _LOOKED_AT)):
        try:
            if next(document[number].get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,)), None) is not None:
                return True
        except pypdfium2.PdfiumError:
            continue
    return False


def properties(document: PdfDocument) -> dict[str, str]:
    """Return Title, Author and CreationDate as the file has them, "" where it has none."""
    return {name: document.get_metadata_value(name) for name in ("Title", "Author", "CreationDate")}


def outline(document: PdfDocument) -> list[OutlineEntry]:
    entries = []
    for mark in document.get_toc():
        target = mark.get_dest()
        entries.append(OutlineEntry(mark.level + 1, mark.get_title(), None if target is None else target.get_index()))
    return entries


def draw(document: PdfDocument, number: int, width: int, most_pixels: int) -> Image.Image:
    """Draw the page of this number, from 0, so many pixels wide; smaller where it would have more pixels than that."""
    page = document[number]
    try:
        across, down = (max(side, 1.0) for side in page.get_size())
        scale = min(width / across, math.sqrt(most_pixels / (across * down)))
        picture: Image.Image = page.render(scale=scale).to_pil()
        return picture
    finally:
        page.close()


def page_transform(page: pypdfium2.PdfPage, width: float, height: float) -> Transform:
    """Measure the map by three points; PDFium answers in whole steps, so a step is a hundredth of a point."""
    steps = 100
    to_x, to_y = ctypes.c_int(), ctypes.c_int()

    def at(x: float, y: float) -> tuple[float, float]:
        across, down = round(width * steps), round(height * steps)
        pdfium.FPDF_PageToDevice(page, 0, 0, across, down, 0, x, y, ctypes.byref(to_x), ctypes.byref(to_y))
        return to_x.value / steps, to_y.value / steps

    far = 1000.0
    (e, f), (x1, y1), (x2, y2) = at(0, 0), at(far, 0), at(0, far)
    return Transform((x1 - e) / far, (y1 - f) / far, (x2 - e) / far, (y2 - f) / far, e, f)


def page_words(page: pypdfium2.PdfPage, transform: Transform, styles: dict[str, Style]) -> tuple[list[Word], list[Word]]:
    """Return the words that run from left to right, and the others."""
    text = page.get_textpage()
    try:
        level: list[Word] = []
        aside: list[Word] = []
        for first, codes, box, glued in character_runs(text, transform):
            written = _written(codes)
            if written:
                style = _style(text, first, styles)
                to = level if _runs_level(text, first, transform) else aside
                to.append(Word(written, *box, style.bold, style.fixed, glued))
        return level, aside
    finally:
        text.close()


def character_runs(text: pypdfium2.PdfTextPage, transform: Transform) -> Iterator[tuple[int, list[int], Box, bool]]:
    """Yield the characters between blanks and jumps: index of the first, codes, box, and whether no blank stands before."""
    raw, rect = text.raw, pdfium.FS_RECTF()
    into, unicode_at, box_at = ctypes.byref(rect), pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
    upright = abs(transform.b) + abs(transform.c) < 0.01  # then boxes are turned by the word, which takes half of the time
    whole = _flipped(transform) if upright else Box
    first, codes, glued = 0, list[int](), False
    x0 = y0 = x1 = y1 = 0.0
    for at in range(min(pdfium.FPDFText_CountChars(raw), MAX_CHARS)):
        code = unicode_at(raw, at)
        if code in _BLANKS or not box_at(raw, at, into):
            if codes:
                yield first, codes, whole(x0, y0, x1, y1), glued
            codes, glued = [], False
            continue
        left, top, right, bottom = rect.left, -rect.top, rect.right, -rect.bottom
        if not upright:
            left, top, right, bottom = transform.box(left, -bottom, right, -top)
        if codes:
            high, height = bottom - top, y1 - y0
            most = 0.6 * (height if height > high else high) + 0.06
            beside = (y1 if y1 < bottom else bottom) - (y0 if y0 > top else top)
            if beside >= 0.5 * (height if height < high else high) and -most < left - x1 < most:
                x0, y0, x1, y1 = min(x0, left), min(y0, top), max(x1, right), max(y1, bottom)
                codes.append(code)
                continue
            yield first, codes, whole(x0, y0, x1, y1), glued
        first, glued, codes = at, bool(codes), [code]
        x0, y0, x1, y1 = left, top, right, bottom
    if codes:
        yield first, codes, whole(x0, y0, x1, y1), glued


def _flipped(transform: Transform) -> Callable[[float, float, float, float], Box]:
    return lambda x0, y0, x1, y1: transform.box(x0, -y1, x1, -y0)


_BLANKS = frozenset((0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x00, 0xA0, 0x3000, 0x202F, 0x205F, *range(0x2000, 0x200C)))


def _written(codes: list[int]) -> str:
    text = "".join(map(chr, codes)).translate(_SIGNS)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()


def _style(text: pypdfium2.PdfTextPage, at: int, styles: dict[str, Style]) -> Style:
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text, at, name, 128, ctypes.byref(flags))
    font = name.value.decode("latin-1")
    if font not in styles:
        bold = bool(_BOLD.search(font)) or bool(flags.value & _FORCE_BOLD)
        styles[font] = Style(bold, bool(_FIXED.search(font)) or bool(flags.value & _FIXED_PITCH))
    return styles[font]


def _runs_level(text: pypdfium2.PdfTextPage, at: int, transform: Transform) -> bool:
    angle = max(0.0, pdfium.FPDFText_GetCharAngle(text, at))
    across, down = math.cos(angle), math.sin(angle)
    x, y = transform.a * across + transform.c * down, transform.b * across + transform.d * down
    return x > 0 and abs(y) < 0.2 * x


def page_rules(page: pypdfium2.PdfPage, transform: Transform) -> Iterator[Box]:
    """Yield the horizontal and vertical lines of a page; none where there are too many drawings for a table."""
    count = pdfium.FPDFPage_CountObjects(page)
    paths = [pdfium.FPDFPage_GetObject(page, at) for at in range(min(count, 20 * MAX_PATHS))]
    paths = [path for path in paths if path and pdfium.FPDFPageObj_GetType(path) == pdfium.FPDF_PAGEOBJ_PATH]
    if len(paths) <= MAX_PATHS:
        for path in paths:
            yield from strokes(path, transform)


def strokes(path: Any, transform: Transform) -> Iterator[Box]:
    segments = pdfium.FPDFPath_CountSegments(path)
    if not 2 <= segments <= _SEGMENTS:
        return
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, ctypes.byref(matrix))
    own = Transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
    points: list[tuple[float, float]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for at in range(segments):
        segment = pdfium.FPDFPath_GetPathSegment(path, at)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            return
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            yield from level_edges(points)
            points = []
        points.append(transform.point(*own.point(x.value, y.value)))
        if pdfium.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    yield from level_edges(points)


def level_edges(points: list[tuple[float, float]]) -> Iterator[Box]:
    """Yield the level and upright pieces of a line through these points; a thin rectangle is one line."""
    if len(points) < 2:
        return
    xs, ys = [x for x, _y in points], [y for _x, y in points]
    whole = Box(min(xs), min(ys), max(xs), max(ys))
    if min(whole.x1 - whole.x0, whole.y1 - whole.y0) <= _THIN:
        yield whole
        return
    for (xa, ya), (xb, yb) in zip(points, points[1:], strict=False):
        if abs(xa - xb) <= _THIN / 2 or abs(ya - yb) <= _THIN / 2:
            yield Box(min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb))
