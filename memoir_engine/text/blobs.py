"""Counted words of one leaf as bytes: what the store keeps beside the seq they reflect.

Invariant: a blob reads back as it was, or not at all. Pure. Source: DESIGN §5 (profiles).
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Mapping, Sequence

from memoir_engine.text.terms import TOKENIZER, Terms

_FORMAT = f"profile/1 {TOKENIZER}"


def encode_leaf(chunks: Mapping[int, Terms]) -> bytes:
    """One leaf's chunks with their counts, as the store keeps them beside the seq they reflect."""
    stems = sorted({stem for terms in chunks.values() for stem in terms.counts})
    at = {stem: number for number, stem in enumerate(stems)}
    rows = [
        [chunk, [at[stem] for stem in terms.counts], list(terms.counts.values()), _unlike(terms)]
        for chunk, terms in sorted(chunks.items())
    ]
    body = json.dumps({"format": _FORMAT, "stems": stems, "chunks": rows}, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(body.encode(), 1)


def decode_leaf(blob: bytes) -> dict[int, Terms] | None:
    """None when it is damaged or of another format or tokenizer: count the texts again."""
    try:
        body = json.loads(zlib.decompress(blob))
        if body["format"] != _FORMAT:
            return None
        stems = [sys.intern(stem) for stem in body["stems"]]  # most leaves have them: one string each, told apart by its address
        return {row[0]: _terms(stems, *row[1:]) for row in body["chunks"]}
    except (zlib.error, ValueError, KeyError, IndexError, TypeError):
        return None


def _unlike(terms: Terms) -> dict[str, str]:
    """Only forms that differ from their stem need a place."""
    return {stem: surface for stem, surface in terms.surfaces.items() if surface != stem}


def _terms(stems: Sequence[str], numbers: Sequence[int], counts: Sequence[int], unlike: dict[str, str]) -> Terms:
    found = [stems[number] for number in numbers]
    return Terms(dict(zip(found, counts, strict=True)), dict(zip(found, found, strict=True)) | unlike)
