"""The reasons of the offline model are a closed list: what an app can tell in another language."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import memoir_offline
from memoir_offline import reasons

RULES = sorted(Path(memoir_offline.__path__[0]).rglob("*.py"))


def written_at_hand(code: str) -> list[str]:
    """Return the texts that a comparison, or a reply with a reason, is given as they stand in the code."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Comparison":
            found += [*node.args[2:3], *(each.value for each in node.keywords if each.arg == "why")]
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "why"]
    return [ast.unparse(one) for one in found if isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and one.value)]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_no_reason_is_written_outside_the_list(path: Path):
    assert written_at_hand(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "code", ['Comparison("update", True, "it has ended")', 'Comparison("update", True, f"another {kind}")', '{"why": "it fits"}']
)
def test_a_reason_outside_the_list_is_found(code: str):
    assert len(written_at_hand(code)) == 1


def test_the_list_holds_every_form_of_a_reason():
    no_reasons = {"ONE_TEXT", "TEXTS"}  # they fill one
    forms = {value for name, value in vars(reasons).items() if name.isupper() and name[0] != "_" and isinstance(value, str)}
    forms |= {*reasons.MERGED.values()}
    assert forms - {getattr(reasons, name) for name in no_reasons} == {*reasons.REASONS}
