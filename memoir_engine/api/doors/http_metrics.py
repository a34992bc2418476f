"""Metrics as Prometheus reads them, in its text format 0.0.4. Pure.

Invariant: whatever a label holds stays within its quotes and its line.
Source: docs/decisions/0125; prometheus.io, "Text-based format".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memoir_engine.api.features import MetricFamily

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def exposition(families: Iterable[MetricFamily]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.about}"
    yield f"# TYPE {family.name} {family.kind}"
    for labels, value in family.samples:
        shown = ",".join(f'{name}="{text.translate(_ESCAPED)}"' for name, text in labels)
        yield f"{family.name}{{{shown}}} {value!r}"
