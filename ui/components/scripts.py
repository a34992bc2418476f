"""Loader of the components' scripts and styles.

Invariant: a component's script is one module, so shared code is prepended to each.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def script(*names: str) -> str:
    """Join these files into one module, after the code that all components share."""
    return "\n".join(read(name) for name in ("make.js", *names))
