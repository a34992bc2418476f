"""Read the bytes of a taxonomy, CSV or YAML, and write one.

Invariant: a file is counted before it is parsed, and YAML without aliases only, since a few can stand for more than there is
memory; no tag makes anything but texts, numbers, lists and mappings.
Source: docs/decisions/0132.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import yaml

from memoir_engine.core.errors import TaxonomyTooLarge, TaxonomyUnreadable
from memoir_engine.readers.charset import decode
from memoir_engine.text.taxonomies import (
    MOST_ENTRIES,
    TaxonomyEntry,
    TaxonomyFile,
    Unreadable,
    nested,
    read_csv,
    read_nested,
    write_csv,
)

TaxonomyFormat = Literal["csv", "yaml"]
MOST_BYTES = 5_000_000
ADVICE = "Give a table with the columns path, description, guidance and locked, saved as CSV, or a YAML list of categories."


def read(data: bytes, name: str) -> TaxonomyFile:
    """Raises TaxonomyUnreadable, TaxonomyTooLarge. name: by its ending YAML, else CSV."""
    if len(data) > MOST_BYTES:
        raise TaxonomyTooLarge(name=name, found=f"{len(data):,} bytes", limit=f"{MOST_BYTES:,}")
    try:
        text = decode(data, name).text.removeprefix("\ufeff")
        found = read_nested(_yaml(text)) if name.casefold().endswith((".yaml", ".yml")) else read_csv(text)
    except Unreadable as unlike:
        raise TaxonomyUnreadable(name=name, problem=str(unlike), advice=ADVICE) from unlike
    if len(found.entries) + len(found.problems) > MOST_ENTRIES:
        raise TaxonomyTooLarge(name=name, found=f"more than {MOST_ENTRIES:,} categories", limit=f"{MOST_ENTRIES:,}")
    return found


def _yaml(text: str) -> object:
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, yaml.SafeLoader)):
            raise Unreadable("it refers to a part of itself (*), which is not read")
        return yaml.safe_load(text)
    except yaml.YAMLError as broken:
        mark = getattr(broken, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise Unreadable(f"{where}{getattr(broken, 'problem', None) or 'it is no YAML'}") from broken
    except (ValueError, RecursionError) as broken:  # ValueError: an impossible date
        raise Unreadable("it is nested too deeply, or holds a value that is none") from broken


def write(entries: Iterable[TaxonomyEntry], format: TaxonomyFormat) -> str:
    """Write entries, parents before children, as `read` reads them back."""
    if format == "csv":
        return write_csv(entries)
    return yaml.safe_dump(nested(entries), allow_unicode=True, sort_keys=False, width=120)
