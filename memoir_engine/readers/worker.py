"""The process that reads one PDF, DOCX, HTML or e-mail file: bytes on its input, JSON on its output, nothing else.

Invariant: it never writes a file, and takes no more memory and processor time than it was told; whatever goes wrong,
what comes out is a document or one of our errors, or nothing (then it was ended from outside).
Source: DESIGN §12.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any

from memoir_engine.core.errors import FileUnreadable, IngestionError
from memoir_engine.readers.document import Document, to_json
from memoir_engine.readers.docx import read_docx
from memoir_engine.readers.html import read_html
from memoir_engine.readers.mail import read_mail
from memoir_engine.readers.pdf import read_pdf


def main() -> None:
    """Arguments: kind, memory in MB, processor seconds. The name stays outside: it may hold what no argument may."""
    kind, memory_mb, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints would spoil the answer
    data = sys.stdin.buffer.read()
    limit(memory_mb, seconds)
    gc.disable()  # a process that ends with its one file has no use for it, and it takes a third of the time
    answer = json.dumps(_answer(kind, data, memory_mb)).encode()
    output.write(answer)
    output.close()


def limit(memory_mb: int, seconds: int) -> None:
    """Beyond what this process takes already. Where the system knows no such limits, the time limit outside remains."""
    sys.dont_write_bytecode = True
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_taken(resource.getpagesize()) + memory_mb * 1_000_000,) * 2)


def _taken(page: int) -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * page
    except OSError:
        return 0


def _answer(kind: str, data: bytes, memory_mb: int) -> dict[str, Any]:
    try:
        return {"document": to_json(parse(kind, data, ""))}
    except IngestionError as error:
        return {"error": type(error).__name__, "facts": error.facts}
    except MemoryError:
        problem = f"reading it takes more than {memory_mb} MB of memory"
        return {"error": "FileUnreadable", "facts": {"kind": kind.upper(), "problem": problem}}


def parse(kind: str, data: bytes, name: str) -> Document:
    """Raises FileUnreadable (E203), NothingToIngest (E201)."""
    try:
        return _READERS[kind](data, name)
    except (IngestionError, MemoryError):
        raise
    except Exception as broken:  # any parser may fail in any way on a hostile file: one border, one error
        raise FileUnreadable(name=name, kind=kind.upper(), problem=f"it is broken ({type(broken).__name__})") from broken


def _pdf(data: bytes, name: str) -> Document:
    return read_pdf(data, name)


def _docx(data: bytes, name: str) -> Document:
    return read_docx(data, name)


def _html(data: bytes, name: str) -> Document:
    return read_html(data)


def _eml(data: bytes, name: str) -> Document:
    return read_mail(data, name)


_READERS = {"pdf": _pdf, "docx": _docx, "html": _html, "eml": _eml}
