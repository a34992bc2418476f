"""Golden texts: what a model is sent, in tests/golden, so that any change of a prompt is seen as a difference.

    golden("select-2", prompt_text(prompt))      # one prompt by itself
    golden("ingestion", requests_text(script.requests))

`pytest --rewrite-golden tests/…` writes those of the tests that are run anew; git then shows what has changed.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from memoir_engine.prompts import Prompt
    from scripted_model import Asked

FOLDER = Path(__file__).parent / "golden"
REWRITE = "--rewrite-golden"
SAME = "as in the first request of this kind"
Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(REWRITE, action="store_true", help="write the golden texts of these tests anew")


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return a function that compares a text with the golden one of that name."""

    def compare(name: str, text: str) -> None:
        path = FOLDER / f"{name}.txt"
        if request.config.getoption(REWRITE):
            path.write_text(text, encoding="utf-8")
        wanted = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != wanted:
            names = f"tests/golden/{path.name}", "as it is now"
            shown = "\n".join(difflib.unified_diff(wanted.splitlines(), text.splitlines(), *names, lineterm=""))
            pytest.fail(
                f"what a model is sent has changed; if it is meant to, run this test with {REWRITE}\n{shown}", pytrace=False
            )

    return compare


def prompt_text(prompt: Prompt) -> str:
    return f"{prompt.version}\n---\n{prompt.instructions}---\n{prompt.text}"


def requests_text(requests: Iterable[Asked]) -> str:
    """Write requests in their order, each with its instructions, text and form; what repeats the first of its kind is named."""
    first: dict[str, tuple[str, str]] = {}
    parts = []
    for number, asked in enumerate(requests, 1):
        told = asked.instructions.rstrip(), json.dumps(asked.schema, ensure_ascii=False).replace('}, "', '},\n "')
        before = first.get(asked.purpose, ("", ""))
        first.setdefault(asked.purpose, told)
        instructions, form = (SAME if now == then else now for now, then in zip(told, before, strict=True))
        parts.append(f"=== {number}. {asked.purpose}\n--- instructions\n{instructions}\n--- text\n{asked.text}--- form\n{form}\n")
    return "\n".join(parts)
