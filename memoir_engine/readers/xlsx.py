"""Read XLSX: each sheet as its name and its rows, which are written as Markdown tables; what was calculated, not the formulas.

A blank row ends a table; empty columns of a table are left out. Hidden sheets are read, too, and a warning names them.
Invariant: `pages[i]` is the offset at which sheet i + 1 begins; nothing but the cells that the file holds is written.
Source: DESIGN §8 (files.read), §12; decision 0126.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from functools import partial
from typing import Any

from memoir_engine.readers.archive import open_office
from memoir_engine.readers.document import Document, Flow, iso_date, own_words, write_rows

Row = list[str]


def read_xlsx(data: bytes, name: str) -> Document:
    """Read a workbook. Raises FileUnreadable (E203)."""
    workbook = open_workbook(data, name)
    flow, pages, warnings = Flow(), [], []
    for sheet in workbook.worksheets:
        pages.append(flow.part(sheet_text(sheet)))
        if sheet.sheet_state != "visible":
            warnings.append(f"the sheet “{sheet.title}” is hidden in the file; it was read")
    properties = workbook.properties
    return Document(
        "xlsx",
        flow.text,
        own_words(properties.title),
        own_words(None if properties.creator == "openpyxl" else properties.creator),
        iso_date(properties.created),
        tuple(flow.headings),
        tuple(pages),
        warnings=tuple(warnings),
    )


def open_workbook(data: bytes, name: str) -> Any:
    import openpyxl

    load = partial(openpyxl.load_workbook, read_only=True, data_only=True)
    return open_office(data, name, "XLSX", "it is broken or not a workbook ({kind})", load)


def sheet_text(sheet: Any) -> Flow:
    """Return the name of a sheet as a heading and its tables; nothing for an empty one."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    flow = Flow()
    for rows in tables([shown(cell) for cell in row] for row in sheet.iter_rows(values_only=True)):
        if not flow.text:
            flow.heading(1, sheet.title)
        write_rows(flow, rows)
    return flow


def tables(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield runs of rows that are not blank, without the columns that are empty in all of them."""
    run: list[Row] = []
    for row in (*rows, []):
        if any(row):
            run.append(row)
        elif run:
            held = sorted({column for each in run for column, cell in enumerate(each) if cell})
            yield [[each[column] if column < len(each) else "" for column in held] for each in run]
            run = []


def shown(value: object) -> str:
    """Return a value as it is read: a date without a time that is midnight, a whole number without its fraction."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(" ", "minutes")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    return " ".join(str(value).split())
