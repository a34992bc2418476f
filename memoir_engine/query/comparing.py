"""Two results of questions compared, choice by choice. Pure.

Source: MEMOIR 8; DESIGN §9.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoir_engine.results import (
    Chunk,
    ComparedChoice,
    ComparedOption,
    ComparedSetting,
    Decision,
    Option,
    PathChoice,
    QueryResult,
    RunComparison,
    RunView,
)

NOT_SETTINGS = {"what_if", "as_of"}  # told by the choices, and by the trees that were walked
Key = tuple[int, int]  # level, parent


def compare(runs: tuple[RunView, RunView], results: tuple[QueryResult, QueryResult], *, tree_changed: bool) -> RunComparison:
    one, other = results
    leaves, read = [_leaves(result.paths) for result in results], [_ids(result.chunks) for result in results]
    return RunComparison(
        one=one,
        other=other,
        settings=_settings(runs, results),
        choices=_choices(one.decisions, other.decisions),
        paths_both=tuple(path for leaf, path in leaves[0].items() if leaf in leaves[1]),
        paths_one=tuple(path for leaf, path in leaves[0].items() if leaf not in leaves[1]),
        paths_other=tuple(path for leaf, path in leaves[1].items() if leaf not in leaves[0]),
        both=tuple(key for key in read[0] if key in read[1]),
        only_one=tuple(key for key in read[0] if key not in read[1]),
        only_other=tuple(key for key in read[1] if key not in read[0]),
        same_answer=one.answer == other.answer,
        tree_changed=tree_changed,
    )


def _leaves(paths: Sequence[PathChoice]) -> dict[int, PathChoice]:
    return {path.category_ids[-1]: path for path in paths}


def _ids(chunks: Sequence[Chunk]) -> dict[int, None]:
    return dict.fromkeys(chunk.id for chunk in chunks)


def _settings(runs: tuple[RunView, RunView], results: tuple[QueryResult, QueryResult]) -> tuple[ComparedSetting, ...]:
    told = [_told(run, result) for run, result in zip(runs, results, strict=True)]
    names = dict.fromkeys([*told[0], *told[1]])
    pairs = [(name, told[0].get(name, "–"), told[1].get(name, "–")) for name in names]
    return tuple(ComparedSetting(*pair) for pair in pairs if pair[1] != pair[2])


def _told(run: RunView, result: QueryResult) -> dict[str, str]:
    """What may differ: what was asked for, and who answered."""
    asked = {name: str(value) for name, value in run.request.items() if name not in NOT_SETTINGS}
    models = dict.fromkeys(response.model for response in result.responses)
    return {**asked, "model": ", ".join(models) or "–"}


def _choices(one: Sequence[Decision], other: Sequence[Decision]) -> tuple[ComparedChoice, ...]:
    sides = _by_place(one), _by_place(other)
    places = sorted({*sides[0], *sides[1]}, key=lambda place: (place[0], _order(place, sides)))
    return tuple(_choice(sides[0].get(place), sides[1].get(place)) for place in places)


def _by_place(decisions: Sequence[Decision]) -> dict[Key, Decision]:
    return {(decision.level, decision.parent_id or 0): decision for decision in decisions}


def _order(place: Key, sides: tuple[dict[Key, Decision], dict[Key, Decision]]) -> tuple[int, int]:
    """As the one walked; what only the other walked comes behind."""
    for number, side in enumerate(sides):
        if place in side:
            return number, list(side).index(place)
    return len(sides), 0


def _choice(one: Decision | None, other: Decision | None) -> ComparedChoice:
    known = one or other
    assert known is not None
    offered = tuple({option.category_id: option for option in side.options} if side else {} for side in (one, other))
    ids = dict.fromkeys([*offered[0], *offered[1]])
    options = [_option(offered[0].get(key), offered[1].get(key)) for key in ids]
    return ComparedChoice(
        known.level,
        known.parent_id,
        known.parent_path,
        tuple(sorted(options, key=_best_first)),
        (one is not None, other is not None),
    )


def _option(one: Option | None, other: Option | None) -> ComparedOption:
    known = one or other
    assert known is not None
    return ComparedOption(
        known.category_id,
        known.name,
        one.rank if one else None,
        other.rank if other else None,
        (one is not None, other is not None),
        known.opinion,
    )


def _best_first(option: ComparedOption) -> tuple[int, float, int]:
    return -max(option.one or 0, option.other or 0), -(option.opinion or 0.0), option.category_id
