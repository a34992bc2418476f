"""Read PDF: the text layer page by page, with page offsets; headings from the outline.

Invariant: `pages[i]` is the offset of page i + 1, even of an empty one; a document without a text layer or with a password
is refused with a message that says so. Source: DESIGN §8 (files.read: page offsets), §11.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from io import BytesIO
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from memoir_engine.core.errors import FileUnreadable, NothingToIngest
from memoir_engine.core.results import Heading
from memoir_engine.readers.document import Document, iso_date, own_words

if TYPE_CHECKING:
    from pypdf import PdfReader

_BETWEEN = "\n\n"
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def read_pdf(data: bytes, name: str) -> Document:
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every small flaw of a file
    reader = _open(data, name)
    texts, warnings = _pages(reader, name)
    if not any(text.strip() for text in texts):
        raise NothingToIngest(name=name)
    starts = tuple(accumulate((len(text) + len(_BETWEEN) for text in texts[:-1]), initial=0))
    title, author, dated = _metadata(reader)
    headings = tuple(sorted(_headings(reader, texts, starts), key=lambda heading: heading.start))
    return Document("pdf", _BETWEEN.join(texts), title, author, dated, headings, starts, warnings=tuple(warnings))


def _open(data: bytes, name: str) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    locked = "it is protected by a password"
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise FileUnreadable(name=name, kind="PDF", problem=locked)
        len(reader.pages)
        return reader
    except (MemoryError, FileUnreadable):
        raise
    except DependencyError as encrypted:
        raise FileUnreadable(name=name, kind="PDF", problem="it is encrypted in a way that is not supported") from encrypted
    except Exception as broken:  # pypdf lets KeyError, TypeError, RecursionError and more through on broken files
        raise FileUnreadable(name=name, kind="PDF", problem=f"it is broken ({type(broken).__name__})") from broken


def _pages(reader: PdfReader, name: str) -> tuple[list[str], list[str]]:
    """Return the text of each page, empty for an unreadable one, and a warning for each of these."""
    texts, warnings = [], []
    for number in range(len(reader.pages)):
        try:
            text = _UNWANTED.sub("", reader.pages[number].extract_text()).replace("\r\n", "\n").replace("\r", "\n")
            texts.append("\n".join(line.rstrip() for line in text.split("\n")).strip("\n"))
        except MemoryError:
            raise
        except Exception as broken:  # as above; one bad page does not cost the others
            texts.append("")
            warnings.append(f"page {number + 1} could not be read ({type(broken).__name__}) and is empty")
    if not texts or len(warnings) == len(texts):
        raise FileUnreadable(name=name, kind="PDF", problem="no page of it could be read")
    return texts, warnings


def _metadata(reader: PdfReader) -> tuple[str | None, str | None, str | None]:
    try:
        properties = reader.metadata
        if properties is None:
            return None, None, None
        title, author = (own_words(_UNWANTED.sub("", str(value or ""))) for value in (properties.title, properties.author))
        try:
            return title, author, iso_date(properties.creation_date)
        except ValueError:  # not a date
            return title, author, None
    except MemoryError:
        raise
    except Exception:  # broken metadata is no metadata: the text is what matters
        return None, None, None


def _headings(reader: PdfReader, texts: list[str], starts: tuple[int, ...]) -> Iterator[Heading]:
    """Yield the entries of the outline whose words occur on their page; the others have no offset."""
    try:
        entries = list(_outline_entries(reader, reader.outline, 1))
    except MemoryError:
        raise
    except Exception:  # as with metadata
        return
    for level, title, page in entries:
        words = " ".join(title.split())
        if not words or page is None or not 0 <= page < len(texts):
            continue
        found = re.search(r"\s+".join(map(re.escape, words.split())), texts[page])
        if found:
            yield Heading(level, words, starts[page] + found.start())


def _outline_entries(reader: PdfReader, entries: Any, level: int) -> Iterator[tuple[int, str, int | None]]:
    """Yield (level, title, page number) of an outline and those nested in it."""
    for entry in entries:
        if isinstance(entry, list):
            yield from _outline_entries(reader, entry, level + 1)
        else:
            yield level, str(entry.title or ""), reader.get_destination_page_number(entry)
