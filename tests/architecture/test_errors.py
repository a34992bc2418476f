"""Errors are a tree of classes with codes, exact messages and remedies. Source: DESIGN §11, MEMOLLA §8."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from machine import REPOSITORY
from memoir_engine.core import errors
from memoir_engine.core.errors import MemoirError

SHARED_CODES = {"E004": {"UnsupportedBackend", "TopKInvalid"}, "E006": {"KnowledgeError", "TargetNotFound"}}


def tree(root: type[MemoirError] = MemoirError) -> list[type[MemoirError]]:
    found = [root]
    for child in root.__subclasses__():
        found += tree(child)
    return [kind for kind in found if kind.__module__.startswith("memoir_engine.")]


def drawn() -> dict[str, tuple[str, str]]:
    """Return class -> code and base class, as docs/errors.md has them."""
    page = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
    return {name: (code, base) for code, name, base in re.findall(r"^\| (E\d{3}) \| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE)}


def test_a_code_belongs_to_one_class_but_for_the_two_that_the_specification_shares():
    owners: dict[str, set[str]] = defaultdict(set)
    for kind in tree():
        owners[kind.code].add(kind.__name__)
    assert {code: names for code, names in owners.items() if len(names) > 1} == SHARED_CODES


def test_every_class_stands_in_the_list_under_its_code_and_its_base():
    assert drawn() == {kind.__name__: (kind.code, kind.__bases__[0].__name__) for kind in tree() if kind is not MemoirError}


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_an_error_says_its_code_its_message_and_its_remedy(kind: type[MemoirError]):
    error = kind(**facts_of(kind))
    assert str(error) == f"[mem][{kind.code}] {error.message}"
    assert re.fullmatch(r"\[mem\]\[E\d{3}\] \S.*", str(error))
    assert error.__notes__ == [f"→ {error.remedy}"]
    assert error.remedy.strip() == error.remedy != ""


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_an_error_survives_the_border_of_a_process(kind: type[MemoirError]):
    rebuild, arguments = kind(**facts_of(kind)).__reduce__()
    assert str(rebuild(*arguments)) == str(kind(**facts_of(kind)))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(errors.ConversationInputMissing, "[mem][E001] session_id and content are required", id="E001"),
        pytest.param(errors.DocIdExists, "[mem][E002] doc_id already exists", id="E002"),
        pytest.param(errors.SummaryTargetUnclear, "[mem][E003] specify either session_id or doc_id", id="E003"),
        pytest.param(errors.TopKInvalid, "[mem][E004] top_k must be positive", id="E004 top_k"),
        pytest.param(errors.OptimizeNotImplemented, "[mem][E005] optimize level not implemented", id="E005"),
        pytest.param(errors.TargetNotFound, "[mem][E006] target not found", id="E006"),
    ],
)
def test_texts_of_the_specification_are_kept_to_the_letter(kind: type[MemoirError], text: str):
    assert str(kind()) == text


def test_an_unsupported_backend_is_named_by_the_text_of_the_specification():
    assert str(errors.UnsupportedBackend(backend="redis")) == "[mem][E004] Unsupported backend"


def facts_of(kind: type[MemoirError]) -> dict[str, object]:
    """Return a value for every field of the two forms; numbers if the form asks for digits."""
    fields = re.findall(r"\{(\w+)(?:![rs])?(?::([^}]*))?\}", kind.message_form + kind.remedy_form)
    return {name: 1.0 if spec else "something" for name, spec in sorted(fields)}
