"""Words and proportions of the code that a newcomer reads. Source: STYLE 3, 5; the bounds are those the house was built to."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import modules
from memoir_engine import AsyncMemory
from memoir_engine.api import features
from memoir_engine.runtime import verbs

FIELD_WORDS = {
    "ranking",
    "embedding",
    "chunking",
    "cutting",
    "filing",
    "logging",
    "streaming",
    "sampling",
    "reporting",
    "indexing",
}
FIELD_WORDS |= {"embed", "feed", "seed", "speed", "shared", "string", "ping", "setting", "binding", "encoding", "pricing"}
IRREGULAR = {
    "told",
    "said",
    "given",
    "spoken",
    "held",
    "kept",
    "known",
    "taken",
    "seen",
    "done",
    "made",
    "left",
    "written",
    "found",
}
RIDDLE = re.compile(r"^(What|Whether|Of|Whose|Where|That|Those|As|To)\b")
LATE_IMPORTS = ("import_module", "resolve_name")

Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    files = modules.python_files(modules.PACKAGE, modules.OFFLINE)
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_modules_are_named_by_nouns(trees: Trees):
    stems = [path.parent.name if path.stem == "__init__" else path.stem for path in trees]
    last = {stem: stem.rsplit("_", 1)[-1] for stem in stems}
    named = [stem for stem, word in last.items() if word.endswith(("ing", "ed")) or word in IRREGULAR]
    assert [stem for stem in named if last[stem] not in FIELD_WORDS] == []


def test_docstrings_open_with_a_verb_or_a_noun(trees: Trees):
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) for tree in trees.values() for node in ast.walk(tree) if isinstance(node, documented)]
    riddles = [text for text in texts if text and RIDDLE.match(text)]
    assert len(riddles) <= 0.03 * len(list(filter(None, texts))), riddles


def test_at_most_a_third_of_the_functions_are_private(trees: Trees):
    names = [function.name for tree in trees.values() for function in functions(tree)]
    private = [name for name in names if re.match(r"_[^_]", name)]
    assert len(private) <= 0.35 * len(names)


def test_imports_stand_at_the_top(trees: Trees):
    """Those inside functions are of heavy libraries; those by a name in a string are counted, too."""
    inside = 0
    for tree in trees.values():
        for function in functions(tree):
            for node in ast.walk(function):
                inside += isinstance(node, ast.Import | ast.ImportFrom)
                inside += isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LATE_IMPORTS
    assert inside <= 60


def test_a_class_has_a_name_of_its_own(trees: Trees):
    names = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert len([name for name, count in names.items() if count > 1]) <= 12


@pytest.mark.parametrize("verb", ["query", "what_if", "ingest_text", "ingest_file", "remember", "tidy"])
def test_a_face_takes_the_options_of_its_verb_with_the_same_defaults(verb: str):
    verbs.locate(features.VERBS)
    registered = verbs.verb_type(verb)
    assert registered is not None
    options = {name: parameter.default for name, parameter in inspect.signature(registered.options).parameters.items()}
    face = {name: parameter.default for name, parameter in inspect.signature(getattr(AsyncMemory, verb)).parameters.items()}
    face = {name: default for name, default in face.items() if name not in ("self", "on_event")}
    assert face.keys() == options.keys()
    assert {name: options[name] for name, default in face.items() if default is not inspect.Parameter.empty} == {
        name: default for name, default in face.items() if default is not inspect.Parameter.empty
    }
