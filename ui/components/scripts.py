"""Loader of the components' scripts and styles.

Invariant: a component's script is one module, so shared code is prepended to each; sizes of type follow `--memoir-scale`.
"""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).parent
_SIZE = re.compile(r"(font-size:\s*)([\d.]+px)")


def read(name: str) -> str:
    text = (_HERE / name).read_text(encoding="utf-8")
    return _SIZE.sub(r"\1calc(\2 * var(--memoir-scale, 1))", text) if name.endswith(".css") else text


def script(*names: str) -> str:
    """Join these files into one module, after the code that all components share."""
    return "\n".join(read(name) for name in ("make.js", *names))
