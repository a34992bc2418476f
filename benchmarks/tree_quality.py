"""The tree that a model draws, and what a question finds in it beside a flat search that reads as much.

Filed are LoCoMo's conversations session by session, long texts, and our own long conversations sitting by sitting. Thin: leaves
of one chunk. Near-synonyms: categories whose words are all in a sibling's name, or a sibling's in theirs. Evidence: the share of
the turns that answer a question among the chunks read (wide branch, nothing left out for a budget), or in a prompt of a budget.
The flat search has the same chunks in one category, those least like the question dropped until its prompt has as many. A prompt
of a budget is also measured with the safety net in it, which is off by default. Requests (CLINC) are filed into their own tree of
two levels, each of whose leaves holds 20 of them.

A figure stands for a half: what was looked at while rules were written, and what nobody had read. `MEMOIR_TREE_MODEL` names
another model than the offline one; `MEMOIR_TREE_MEASURE=1` reads the unread half of our own conversations, too.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import data, fact_conversations
from benchmarks.frame import Size, figure, quiet
from benchmarks.quality import locomo
from memoir_engine import Category, Memory, QueryResult, count_tokens

FEATURES = ("query", "ingest")
READS = ("locomo", "longtext", "clinc")
TITLE = "The tree: its shape, and the evidence it finds beside a flat search of the same size"
MODEL = os.environ.get("MEMOIR_TREE_MODEL", "offline")
MEASURED = os.environ.get("MEMOIR_TREE_MEASURE") == "1"
UNREAD_TALKS = {2}  # of LoCoMo, by place
STEPS = {"full": 4, "small": 40}  # of questions
TEXTS = {"full": None, "small": 4}
BUDGETS = (2_500, 8_000)
NET = 10  # chunks of other leaves, nearest by words, where the safety net enters the prompt
NO_LIMIT = 1_000_000
FIXED_TOKENS, FRAME_TOKENS = 400, 30  # of a prompt, and of each chunk's frame in it, to begin with
TRIES = 3
LARGE = 100  # chunks from which on the shape of a tree says something
REQUESTS = {"full": 20, "small": 2}  # of each leaf
ASKED = {"full": 5, "small": 300}  # every so many requests of the other part
LINE_TOKENS = 40  # of a request, filled up with signs, so that no two share a chunk
Named = dict[int, list[tuple[int, int, str]]]  # by source: start, end and name of each turn


@dataclass(frozen=True)
class Text:
    """A text to file. turns: start, end and name of what may be evidence."""

    name: str
    text: str
    turns: tuple[tuple[int, int, str], ...] = ()
    helper: str | None = None


@dataclass(frozen=True)
class Part:
    """Texts filed in one memory, and questions with the names of the turns that answer them."""

    name: str
    texts: list[Text]
    questions: list[tuple[str, frozenset[str]]]


@quiet()
def main(size: Size = "full") -> dict[str, Any]:
    parts = [*_locomo(size), *_conversations(size), *_long_texts(size)]
    figures = [made for part in parts if part.texts for made in _part(part)]
    return {
        "title": TITLE,
        "sizes": {"questions": sum(len(part.questions) for part in parts), "texts": sum(len(part.texts) for part in parts)},
        "figures": [*figures, *_requests(size)],
        "notes": [f"model: {MODEL}; shapes have aims from {LARGE} chunks on"],
    }


def _locomo(size: Size) -> Iterator[Part]:
    for half in ("look", "unread"):
        texts: list[Text] = []
        questions: list[tuple[str, frozenset[str]]] = []
        for number, talk in enumerate(locomo(STEPS[size])):
            if (number in UNREAD_TALKS) == (half == "unread") and (size == "full" or not texts):
                for session in talk.sessions:
                    lines = [(f"{number} {turn.id}", f"{turn.speaker}: {turn.text}") for turn in session]
                    texts.append(_transcript(f"talk {number}, {len(texts) + 1}", f"{session[0].at:%d %B %Y}", lines))
                questions += [(asked, frozenset(f"{number} {turn}" for turn in turns)) for asked, turns in talk.questions]
        yield Part(f"LoCoMo, {half}", texts, questions)


def _conversations(size: Size) -> Iterator[Part]:
    for half in ("look", "measure") if MEASURED else ("look",):
        texts: list[Text] = []
        questions: list[tuple[str, frozenset[str]]] = []
        for place, talk in enumerate(fact_conversations.load(f"{half}_*")[: None if size == "full" else 1]):
            for sitting in talk.sittings():
                lines = [(f"{place} {one['id']}", f"{one['role']}: {one['text']}") for one in sitting]
                texts.append(_transcript(f"{talk.user} {place}, {len(texts) + 1}", sitting[0]["at"][:10], lines))
            places = {row["id"]: row["said_in"] for row in talk.facts}
            for asked in talk.questions[:: 1 if size == "full" else STEPS[size] // 10]:
                turns = frozenset(f"{place} {turn}" for fact in asked["answer"] for turn in places[fact])
                questions += [(asked["question"], turns)] if turns else []
        yield Part(f"own conversations, {half}", texts, questions)


def _transcript(name: str, day: str, lines: Sequence[tuple[str, str]]) -> Text:
    text, turns = f"{day}\n", []
    for turn, line in lines:
        turns.append((len(text), len(text) + len(line), turn))
        text += f"{line}\n"
    return Text(name, text, tuple(turns), f"A conversation of {day}.")


def _long_texts(size: Size) -> Iterator[Part]:
    for half in (0, 1):
        listed = [Text(name, text) for name, text in data.longtexts().items()][half::2][: TEXTS[size]]
        yield Part(f"long texts, {('look', 'unread')[half]}", listed, [])


def _part(part: Part) -> Iterator[dict[str, Any]]:
    with _memory(MODEL) as memory:
        turns = _file(memory, part.texts)
        yield from _shape(memory, part.name, turns)
        if part.questions:
            with _memory("offline", hierarchy_depth=1, category_limit=1) as flat:
                yield from _evidence(part, (memory, turns), (flat, _file(flat, part.texts)))


def _file(memory: Memory, texts: Sequence[Text]) -> Named:
    turns: Named = {}
    for each in texts:
        result = memory.ingest_text(each.text, name=each.name, contextual_helper=each.helper).raise_for_error()
        turns[result.source_id or 0] = list(each.turns)
    return turns


def _shape(memory: Memory, name: str, turns: Named) -> Iterator[dict[str, Any]]:
    tree = list(memory.tree.all())
    leaves = [node for node in tree if node.is_leaf and node.chunks]
    roots = [node for node in tree if node.level == 1]
    total = sum(node.chunks for node in roots)

    def shaped(what: str, value: float, aim: float | None = None) -> dict[str, Any]:
        return figure(f"{name}: {what}", [value], "", aim=aim if total >= LARGE else None)

    yield shaped("leaves with one chunk", sum(leaf.chunks == 1 for leaf in leaves) / len(leaves), 0.25)
    yield shaped("near-synonyms among siblings", _synonyms(tree), 0.02)
    yield shaped("largest leaf", max(leaf.chunks for leaf in leaves) / total, 0.10)
    yield shaped("largest root", max(root.chunks for root in roots) / total, 0.40)
    yield shaped("roots of a source", _roots_of_a_source(memory, leaves, turns))
    for level in range(max(node.level for node in tree)):
        open_ = [node.children for node in tree if node.level == level] if level else [len(roots)]
        yield shaped(f"branching at level {level + 1}", sum(open_) / len(open_))


def _synonyms(tree: Sequence[Category]) -> float:
    siblings: defaultdict[int | None, list[frozenset[str]]] = defaultdict(list)
    for node in tree:
        siblings[node.parent_id].append(frozenset(word.removesuffix("s") for word in node.name.casefold().split()))
    near = sum(
        any(at != other and (words <= names[other] or names[other] <= words) for other in range(len(names)))
        for names in siblings.values()
        for at, words in enumerate(names)
    )
    return near / len(tree)


def _roots_of_a_source(memory: Memory, leaves: Sequence[Category], turns: Named) -> float:
    roots: defaultdict[int, set[str]] = defaultdict(set)
    for leaf in leaves:
        for chunk in memory.tree.chunks(leaf.id, limit=leaf.chunks).chunks:
            roots[chunk.source_id].add(leaf.path[0])
    return sum(map(len, roots.values())) / max(1, len(turns))


def _evidence(part: Part, tree: tuple[Memory, Named], flat: tuple[Memory, Named]) -> Iterator[dict[str, Any]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    total = sum(node.chunks for node in tree[0].tree.roots())
    for question, wanted in part.questions:
        whole = _ask(tree[0], question, NO_LIMIT)
        found["read"].append(len(whole.used_chunks) / total)
        found["tree"].append(_share(whole, tree[1], wanted))
        found["flat"].append(_share(_ask_as_much(flat[0], question, whole), flat[1], wanted))
        for budget in BUDGETS:
            found[f"tree {budget}"].append(_share(_ask(tree[0], question, budget), tree[1], wanted))
            found[f"flat {budget}"].append(_share(_ask(flat[0], question, budget), flat[1], wanted))
            netted = _ask(tree[0], question, budget, safety_net=NET, safety_net_in_prompt=True)
            found[f"net {budget}"].append(_share(netted, tree[1], wanted))
    mean = {name: sum(values) / len(values) for name, values in found.items()}
    large = total >= LARGE

    def made(what: str, value: float, aim: float | None = None, better: Any = "higher") -> dict[str, Any]:
        return figure(f"{part.name}: {what}", [value], "", aim=aim, better=better)

    yield made("evidence read by wide branch", mean["tree"], 0.90)
    yield made("share of the memory read", mean["read"], 0.30 if large else None, "lower")
    yield made("evidence, a flat search that reads as much", mean["flat"])
    for budget in BUDGETS:
        flat_share = round(mean[f"flat {budget}"], 4)
        yield made(f"evidence in a prompt of {budget:,} tokens", mean[f"tree {budget}"], flat_share)
        yield made(f"evidence in a prompt of {budget:,} tokens, {NET} of the net in it", mean[f"net {budget}"], flat_share)


def _ask(memory: Memory, question: str, budget: int, **net: Any) -> QueryResult:
    return memory.query(question, prune_by="chunk", max_token_budget=budget, **net)


def _ask_as_much(flat: Memory, question: str, whole: QueryResult) -> QueryResult:
    """Ask with the budget at which as many chunks stand in the prompt."""
    count = len(whole.used_chunks)
    mean = sum(chunk.tokens for chunk in whole.chunks) // count + FRAME_TOKENS
    budget = count * mean + FIXED_TOKENS
    result = _ask(flat, question, budget)
    for _ in range(TRIES):
        if len(result.used_chunks) == count:
            break
        budget += (count - len(result.used_chunks)) * mean
        result = _ask(flat, question, budget)
    return result


def _share(result: QueryResult, turns: Named, wanted: frozenset[str]) -> float:
    spans = ((used, span) for used in result.used_chunks for span in turns.get(used.source_id, ()))
    read = {name for used, (start, end, name) in spans if start < used.end and end > used.start}
    return len(wanted & read) / len(wanted)


def _requests(size: Size) -> Iterator[dict[str, Any]]:
    """File requests below their own categories, then others: with levels closed to new categories, and open."""
    held = _by_path(data.rows("clinc/train.jsonl"), REQUESTS[size])
    if not held:
        return
    roots = Counter(path[0] for path in held)
    limits = {1: len(roots), 2: max(roots.values())}
    fitting: dict[str, Any] = {"hierarchy_depth": 2, "chunk_min_tokens": 1, "chunk_max_tokens": LINE_TOKENS + 20}
    others = data.rows("clinc/val.jsonl")[:: ASKED[size]]
    leaves: dict[tuple[str, str], int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in (("closed", fitting | {"category_limits": limits}), ("open", fitting)):
            with Memory(data_dir=Path(folder), model=MODEL, embedder="offline", **settings) as memory:
                leaves = leaves or _own_tree(memory, held)
                right = _filed_right(memory, leaves, others, name)
            for half in (0, 1):
                mine = [hit for path, hit in right if zlib.crc32(path[1].encode()) % 2 == half]
                aim = 0.78 if name == "closed" else None
                told = f"requests filed right, {name} levels, {('look', 'unread')[half]}"
                yield figure(told, [sum(mine) / len(mine)], "", aim=aim, better="higher")


def _by_path(rows: Sequence[Mapping[str, Any]], most: int) -> dict[tuple[str, str], list[str]]:
    held: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if len(held[tuple(row["path"])]) < most:
            held[tuple(row["path"])].append(row["text"])
    return dict(held)


def _own_tree(memory: Memory, held: Mapping[tuple[str, str], list[str]]) -> dict[tuple[str, str], int]:
    """Make the categories, file the requests anywhere, and put each where it belongs."""
    roots: dict[str, int] = {}
    leaves: dict[tuple[str, str], int] = {}
    for root, leaf in held:
        if root not in roots:
            roots[root] = _create(memory, None, root)
        leaves[root, leaf] = _create(memory, roots[root], leaf)
    listed = [(path, text) for path, texts in held.items() for text in texts]
    of_path: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    leaf_of = dict(_chunks(memory, [text for _, text in listed], "examples"))
    for (path, _), chunk in zip(listed, leaf_of, strict=True):
        of_path[path].append(chunk)
    for path, chunks in of_path.items():
        if wrong := [chunk for chunk in chunks if leaf_of[chunk] != leaves[path]]:
            memory.review.refile_many(wrong, leaves[path], reason="its own category")
    return leaves


def _create(memory: Memory, parent: int | None, name: str) -> int:
    spoken = name.replace("_", " ")
    memory.review.create(parent, spoken)
    children = memory.tree.roots() if parent is None else memory.tree.children(parent)
    return next(node.id for node in children if node.name == spoken)


def _filed_right(
    memory: Memory, leaves: Mapping[tuple[str, str], int], others: Sequence[Mapping[str, Any]], name: str
) -> list[tuple[tuple[str, str], bool]]:
    paths = [tuple(row["path"]) for row in others]
    filed = _chunks(memory, [row["text"] for row in others], f"requests, {name}")
    return [(path, leaf == leaves[path]) for path, (_, leaf) in zip(paths, filed, strict=True)]


def _chunks(memory: Memory, texts: Sequence[str], name: str) -> list[tuple[int, int]]:
    """File each line as one chunk; return the id and the leaf of each, in order."""
    lines = [f"{text} {'# ' * max(0, LINE_TOKENS - count_tokens(text))}".rstrip() for text in texts]
    result = memory.ingest_text("\n".join(lines), name=name, contextual_helper="Requests.").raise_for_error()
    chunks = memory.sources.chunks(result.source_id or 0)
    assert len(chunks) == len(lines), "a line is a chunk"
    return [(chunk.id, chunk.category_id or 0) for chunk in chunks]


@contextmanager
def _memory(model: str, **settings: Any) -> Iterator[Memory]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(data_dir=Path(folder), model=model, embedder="offline", **settings) as memory,
    ):
        yield memory
