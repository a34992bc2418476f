"""Read a file: check it, read it in a process of its own where that needs a parser, and hand on what will be stored.

PDF, DOCX, HTML and e-mail go through libraries that follow structures inside the file, so they are read in a process limited
in time and memory, which sees no variable of this one's environment but the paths it needs. Plain text and Markdown are
decoded by the standard library and scanned line by line, in time that their size bounds: a process for them would cost
0.2 s each and guard against nothing.
Invariant: what is returned satisfies document.Document; any failure is one of E201–E205 and nothing else.
Source: DESIGN §8 (files.read), §12 (a limited subprocess).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from memoir_engine.core import errors
from memoir_engine.core.errors import FileTooLarge, FileUnreadable, MemoirError, NothingToIngest, TextInvalid
from memoir_engine.readers.charset import Decoded, clean, decode
from memoir_engine.readers.document import Document, Kind, date_in_name, from_json
from memoir_engine.readers.kinds import kind_of
from memoir_engine.readers.plain import markdown_fields, markdown_headings, plain_fields, plain_headings

MB = 1024 * 1024
TIMEOUT_S = 60
MEMORY_MB = 1_000
# The package without its public names: the reader needs none of them, and importing them takes longer than reading.
_WORKER = """
import sys, types
package = sys.modules["memoir_engine"] = types.ModuleType("memoir_engine")
package.__path__ = [sys.argv.pop(1)]
from memoir_engine.readers.worker import main
main()
"""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PASSED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH", "PYTHONPATH")
_ENDED_BY = {-signal.SIGKILL: "the system ended it", -signal.SIGXCPU: "it took too long"}


def read(data: bytes, name: str, *, max_mb: float = 50, timeout_s: float = TIMEOUT_S, memory_mb: int = MEMORY_MB) -> Document:
    """Read a file into a document.

    Raises NothingToIngest (E201), FileTooLarge (E202), FileUnreadable (E203), FileTypeUnknown (E204), TextInvalid (E205).
    """
    _check_size(len(data), name, max_mb)
    if not data.strip():
        raise NothingToIngest(name=name)
    kind = kind_of(data, name)
    if kind in ("txt", "md"):
        return _scan(decode(data, name), name, kind)
    if kind == "html" and b"\x00" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TextInvalid(name=name, problem="it holds NUL characters", advice="Save the page as UTF-8.")
    document = _parse_apart(kind, data, name, timeout_s, memory_mb)
    _check_size(len(document.text.encode("utf-8", "surrogatepass")), name, max_mb)
    if not document.text.strip():
        raise NothingToIngest(name=name)
    return replace(document, dated=document.dated or date_in_name(name))


def read_text(text: str, name: str = "text", *, max_mb: float = 50) -> Document:
    """Read a pasted text, as Markdown if the name ends in .md, else as plain text."""
    _check_size(len(text.encode("utf-8", "surrogatepass")), name, max_mb)
    kind: Kind = "md" if name.lower().endswith((".md", ".markdown")) else "txt"
    return _scan(Decoded(text, "utf-8"), name, kind)


def _check_size(size: int, name: str, max_mb: float) -> None:
    if size > max_mb * MB:
        raise FileTooLarge(name=name, size_mb=size / MB, limit_mb=max_mb)


def _scan(decoded: Decoded, name: str, kind: Kind) -> Document:
    text, repaired = clean(decoded.text, name)
    if kind == "md":
        headings = markdown_headings(text)
        fields = markdown_fields(text, headings)
    else:
        headings = plain_headings(text)
        fields = plain_fields(text, headings, name)
    warnings = (*decoded.warnings, *repaired)
    dated = fields.dated or date_in_name(name)
    return Document(kind, text, fields.title, fields.author, dated, headings, (), decoded.encoding, warnings)


def _parse_apart(kind: Kind, data: bytes, name: str, timeout_s: float, memory_mb: int) -> Document:
    command = [sys.executable, "-c", _WORKER, str(Path(__file__).parents[1]), kind, str(memory_mb), str(int(timeout_s) + 1)]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        done = subprocess.run(command, input=data, timeout=timeout_s, env=worker_environment(), check=False, **streams)
    except subprocess.TimeoutExpired as late:
        raise FileUnreadable(name=name, kind=kind.upper(), problem=f"reading it takes more than {timeout_s:g} s") from late
    try:
        answer = json.loads(done.stdout)
    except ValueError as nothing:
        problem = _ENDED_BY.get(done.returncode, f"its reader ended without an answer ({done.returncode})")
        raise FileUnreadable(name=name, kind=kind.upper(), problem=problem) from nothing
    if "document" not in answer:
        error: type[MemoirError] = getattr(errors, answer["error"])
        raise error(**{**answer["facts"], "name": name})
    return from_json(_storable(answer["document"]))


def worker_environment() -> dict[str, str]:
    """Return the variables the worker sees: no key of any provider; one thread for a library that only ever uses one."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {**passed, "PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"}


def _storable(value: Any) -> Any:
    """Replace every character that no database takes, one for one, so that offsets hold."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: _storable(item) for name, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value
