"""Third-party embedders: their vectors are validated, and word search answers if they are unusable. Source: MEMOLLA F-02-02,
F-03-02.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from machine import REPOSITORY
from memoir_engine import EMBEDDERS, STRATEGIES, ConfigurationError, Memory

NAME = "of-a-test"


class Plug:
    """Embedder that returns whatever `give` makes of the texts."""

    id, dim, lexical = "of-a-test-1", 3, False

    def __init__(self, give: Callable[[Sequence[str]], Any]) -> None:
        self._give = give

    async def embed(self, texts: Sequence[str], run: object) -> Any:
        return self._give(texts)

    async def close(self) -> None: ...


def by_subject(texts: Sequence[str]) -> list[list[float]]:
    return [[float("tea" in text), float("iron" in text), 1.0] for text in texts]


def broken(texts: Sequence[str]) -> Any:
    raise RuntimeError("out of order")


@pytest.fixture
def plugged() -> Iterator[Callable[[Any], None]]:
    yield lambda factory: EMBEDDERS.register(NAME)(factory) and None
    EMBEDDERS._known.pop(NAME, None)


@pytest.fixture
def opened(plugged: Callable[[Any], None], tmp_path: Path) -> Iterator[Callable[[Any], Memory]]:
    memories: list[Memory] = []

    def open_with(give: Any) -> Memory:
        plugged(lambda config: Plug(give))
        memories.append(Memory(model="offline", embedder=NAME, db_path=tmp_path / "memory.db", hierarchy_depth=1))
        memories[-1].add_knowledge("tea", "tea is green")
        memories[-1].add_knowledge("iron", "iron is hard")
        return memories[-1]

    yield open_with
    for memory in memories:
        memory.close()


@pytest.mark.req("MEMOLLA F-02-02")
def test_rows_of_numbers_of_any_length_are_taken_as_vectors(opened: Callable[[Any], Memory]):
    found = opened(by_subject).search("iron")
    assert (found[0].doc_id, found[0].mode, found[0].score_dense, found[0].embedder) == ("iron", "hybrid", 1.0, "of-a-test-1")


@pytest.mark.parametrize(("pull", "degrees"), [(None, 45), (0.0, 45), (1.0, 22.5)])
def test_a_question_is_moved_as_far_as_the_embedder_says(opened: Callable[[Any], Memory], monkeypatch, pull, degrees):
    if pull is not None:
        monkeypatch.setattr(Plug, "search_pull", pull, raising=False)
    found = opened(by_subject).search("hard")
    assert {one.doc_id: one.raw_dense for one in found}["iron"] == pytest.approx(np.cos(np.radians(degrees)), abs=1e-5)


@pytest.mark.req("MEMOLLA F-03-02")
@pytest.mark.parametrize(
    ("give", "problem"),
    [
        (broken, "RuntimeError: out of order"),
        (lambda texts: None, "it gave no rows of numbers"),
        (lambda texts: ["a" for _ in texts], "it gave no rows of numbers"),
        (lambda texts: by_subject(texts)[1:], "shape (1, 3) instead of (2, 3)"),
        (lambda texts: [[1.0, 0.0] for _ in texts], "shape (2, 2) instead of (2, 3)"),
        (lambda texts: np.full((len(texts), 3), np.nan), "a vector has no direction"),
        (lambda texts: np.zeros((len(texts), 3)), "a vector has no direction"),
    ],
)
def test_what_is_no_vector_is_not_stored_and_words_answer(
    opened: Callable[[Any], Memory], give: Any, problem: str, caplog: pytest.LogCaptureFixture
):
    memory = opened(give)
    with caplog.at_level(logging.WARNING):
        found = memory.search("iron")
    assert [(one.doc_id, one.mode) for one in found] == [("iron", "bm25_only")]
    assert found[0].reason and f"the model {NAME!r} failed: " in found[0].reason and problem in found[0].reason
    assert "[mem][W01] dense index unavailable, fallback to bm25" in [one.getMessage() for one in caplog.records]


@pytest.mark.req("MEMOLLA F-00-01")
@pytest.mark.parametrize(("made", "lacking"), [(by_subject, "id, dim, lexical, embed, close"), (None, "id, dim")])
def test_a_factory_that_makes_no_embedder_is_refused_at_opening(plugged: Any, tmp_path: Path, made: Any, lacking: str):
    plugged(lambda config: made)
    with pytest.raises(ConfigurationError) as refused:
        Memory(model="offline", embedder=NAME, db_path=tmp_path / "memory.db")
    assert str(refused.value).startswith(f"[mem][E102] embedder = {NAME!r} is invalid: what its factory makes has no {lacking}")
    assert "docs/plug-ins.md" in refused.value.remedy


def test_the_examples_of_the_page_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    page = (REPOSITORY / "docs" / "plug-ins.md").read_text(encoding="utf-8")
    assert "docs/plug-ins.md" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "plug-ins.md", "exec"), {})
    del EMBEDDERS._known["lengths"], STRATEGIES._known["half_each_time"]
    assert capsys.readouterr().out.splitlines() == ["lengths-1", "Tea is grown in Uji. [1]"]
