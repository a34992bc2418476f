"""Read the bytes of a taxonomy, CSV, YAML or SKOS, and write one.

Invariant: a file is counted before it is parsed, and YAML without aliases only, since a few can stand for more than there is
memory; no tag makes anything but texts, numbers, lists and mappings. What reads SKOS is loaded for SKOS alone.
Source: docs/decisions/0132, 0133.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Literal

import yaml

from memoir_engine.core.errors import ReaderMissing, TaxonomyTooLarge, TaxonomyUnreadable
from memoir_engine.readers.charset import decode
from memoir_engine.text.skos import write_skos
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

TaxonomyFormat = Literal["csv", "yaml", "skos"]
MOST_BYTES = 5_000_000
ADVICE = (
    "Give a table with the columns path, description, guidance and locked, saved as CSV, a YAML list of categories, or SKOS as "
    "Turtle."
)
SKOS = {".ttl": "turtle", ".rdf": "xml", ".xml": "xml", ".nt": "nt"}
JSON_LD = (".jsonld", ".json")


def read(data: bytes, name: str, language: str | None = None) -> TaxonomyFile:
    """Read by the ending of the name YAML or SKOS, else CSV. language: of names and notes, where a file has several.

    Raises TaxonomyUnreadable, TaxonomyTooLarge, ReaderMissing.
    """
    if len(data) > MOST_BYTES:
        raise TaxonomyTooLarge(name=name, found=f"{len(data):,} bytes", limit=f"{MOST_BYTES:,}")
    try:
        text = decode(data, name).text.removeprefix("\ufeff")
        found = _by_ending(text, name, language)
    except Unreadable as unlike:
        raise TaxonomyUnreadable(name=name, problem=str(unlike), advice=ADVICE) from unlike
    if len(found.entries) + len(found.problems) > MOST_ENTRIES:
        raise TaxonomyTooLarge(name=name, found=f"more than {MOST_ENTRIES:,} categories", limit=f"{MOST_ENTRIES:,}")
    return found


def _by_ending(text: str, name: str, language: str | None) -> TaxonomyFile:
    ending = PurePath(name.casefold()).suffix
    if ending in JSON_LD:
        raise Unreadable("JSON-LD names addresses that would have to be fetched, and nothing is: save it as Turtle")
    if ending in SKOS:
        return _skos(text, name, SKOS[ending], language)
    return read_nested(_yaml(text)) if ending in (".yaml", ".yml") else read_csv(text)


def _skos(text: str, name: str, syntax: str, language: str | None) -> TaxonomyFile:
    try:
        from memoir_engine.readers import skos  # loads rdflib, which is an extra
    except ModuleNotFoundError as absent:
        raise ReaderMissing(name=name, kind="SKOS", module=absent.name or "", extra="skos") from absent
    try:
        return skos.read_skos(text, syntax, language)
    except skos.TooManyTriples as many:
        limit = f"{skos.MOST_TRIPLES:,}"
        raise TaxonomyTooLarge(name=name, found=f"more than {limit} statements", limit=limit) from many


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
    if format == "skos":
        return write_skos(entries)
    return yaml.safe_dump(nested(entries), allow_unicode=True, sort_keys=False, width=120)
