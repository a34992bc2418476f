"""Scripts and styles of the components, read from beside them.

Invariant: a component's script is one module, so what several share is put in front of each.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def script(*names: str) -> str:
    """One module of these files, behind what all of them share."""
    return "\n".join(read(name) for name in ("make.js", *names))
