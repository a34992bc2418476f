"""New names of one wave that mean the same become one, by one short call that is in the ledger like any other.

Invariant: only names whose texts are close (second opinion) are asked about; every name maps to one that was proposed.
Source: DESIGN §8 ("close ones are settled by one short call").
"""

from __future__ import annotations

from memoir_engine.ingest.batch import Ask
from memoir_engine.prompts import classify
from memoir_engine.prompts import settle as prompt
from memoir_engine.text.names import fold
from memoir_engine.text.similarity import close_names
from memoir_engine.text.terms import Terms

TERMS_SHOWN = 6


async def settle(names: dict[str, list[Terms]], options: classify.Options, ask: Ask) -> dict[str, str]:
    """Each new name to the one that stays; names that stay themselves may be absent."""
    first, same = _spellings(names)
    groups = close_names({name: [t for n in names if same.get(n, n) == name for t in names[n]] for name in first})
    for group in groups:
        close = prompt.Close(options.level, options.path, tuple(_new_name(name, names[name]) for name in group))
        answer = await ask(prompt.build(close))
        kept = prompt.parse(answer.data, close)
        same = {name: kept.get(target, target) for name, target in {**{n: n for n in names}, **same}.items()}
    return same


def _spellings(names: dict[str, list[Terms]]) -> tuple[list[str], dict[str, str]]:
    """Names that differ in case, width or spaces only are one: the first spelling stays."""
    first: dict[str, str] = {}
    same = {name: first.setdefault(fold(name), name) for name in names}
    return list(first.values()), same


def _new_name(name: str, texts: list[Terms]) -> prompt.NewName:
    counts: dict[str, int] = {}
    for terms in texts:
        for stem, count in terms.counts.items():
            counts[stem] = counts.get(stem, 0) + count
    commonest = sorted(counts, key=lambda stem: (-counts[stem], stem))[:TERMS_SHOWN]
    surfaces = {stem: surface for terms in texts for stem, surface in terms.surfaces.items()}
    return prompt.NewName(name, len(texts), tuple(surfaces.get(stem, stem) for stem in commonest))
