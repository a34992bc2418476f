"""Token counts: the same as litellm's, and spans that fit them."""

import os
import random
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir_engine.models.tokens import NAMES, TokenCounter, count_tokens, counter, encoding, is_exact, litellm_list, name_of
from memoir_engine.text.chunks import cut

SAMPLES = {
    "english": "The quick brown fox doesn't jump; it's 3.14 metres long.\n\n  Indented, and 1234567 more.",
    "japanese": "吾輩は猫である。名前はまだ無い。「どこで生れたか」と、とんと見当がつかぬ！",
    "emoji": "👩‍👩‍👧‍👦 🙂🙃 naïve café e\u0301 🇯🇵",
    "code": "def f(x):\n\treturn {k: v**2 for k, v in x.items()}  # ok\n\n\n    pass\n",
    "special": "before <|endoftext|> between <|fim_prefix|> after",
    "blanks": " \t \n\n  \r\n   x",
    "empty": "",
}


@cache
def quiet_litellm() -> Any:
    """The module, set so that it fetches neither a price list nor a tokeniser and loads no ./.env into the process."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    import litellm

    litellm.disable_hf_tokenizer_download = True
    return litellm


@pytest.mark.req("MEMOIR 2.3")
@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-4o", "gpt-4.1", "gpt-5", "o3", "gpt-4", "gpt-3.5-turbo"])
def test_counts_of_openai_models_equal_those_of_litellm(model, text):
    assert count_tokens(text, model) == quiet_litellm().token_counter(model=model, text=text)


@pytest.mark.req("MEMOIR 2.3")
@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-flash", "meta-llama-3.1-8b-instruct", "no-such-model"])
def test_counts_of_other_models_are_those_of_litellm(model, text):
    assert count_tokens(text, model) == quiet_litellm().token_counter(model=model, text=text)


@pytest.mark.parametrize("name", ["openai:gpt-4o-mini", "openai/gpt-4o-mini", "azure/gpt-4o-mini"])
def test_a_provider_before_the_name_changes_no_count(name):
    assert count_tokens(SAMPLES["japanese"], name) == count_tokens(SAMPLES["japanese"], "gpt-4o-mini")


def test_only_providers_are_taken_off_a_name():
    assert name_of("ollama:llama3:8b").bare == "llama3:8b"
    assert name_of("ft:gpt-4o:mine").bare == "ft:gpt-4o:mine"


@pytest.mark.parametrize(
    ("model", "exact"),
    [
        ("gpt-4o-mini", True),
        ("openai:gpt-5", True),
        ("offline", True),
        ("anthropic:claude-sonnet-4-5", False),
        ("ollama:gpt-4o-mini", False),
        ("my-own-model", False),
    ],
)
def test_counts_of_other_than_openai_models_are_labelled_estimated(model, exact):
    assert is_exact(model) is exact
    assert TokenCounter(model).exact is exact


def test_every_model_that_litellm_lists_is_counted_by_the_encoding_that_it_takes():
    text = SAMPLES["japanese"]
    names = [name for name in litellm_list() if name_of(f"ollama:{name}").bare == name]
    counted = {name: count_tokens(text, f"ollama:{name}") for name in names}
    assert counted == {name: quiet_litellm().token_counter(model=name, text=text) for name in names}


@pytest.mark.parametrize("model", ["offline", "ollama:llama3", "openai:gpt-5"])
def test_nothing_is_counted_by_importing_litellm(model):
    code = (
        "import sys; from memoir_engine.models.tokens import counter; from memoir_engine.text.chunks import cut; "
        f"print(len(cut('One sentence. ' * 500, counter({model!r}))), 'litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "False"]


def test_special_tokens_in_a_text_are_plain_text():
    assert count_tokens("<|endoftext|>", "gpt-4o") > 1


def test_a_text_is_tokenised_once_however_often_it_is_counted(monkeypatch):
    tokens = TokenCounter("gpt-4o-mini")
    first = tokens.count("counted once")
    monkeypatch.setattr(tokens._encoding, "count", lambda text: pytest.fail("counted again"))
    assert tokens.count("counted once") == first == 3


def test_one_counter_serves_all_who_ask_for_a_model():
    assert counter("gpt-4o-mini") is counter("gpt-4o-mini")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_each_token_has_an_end_and_the_last_is_that_of_the_text(name, text):
    ends = encoding(name).ends(text)
    assert len(ends) == encoding(name).count(text)
    assert [*ends[-1:]] == [len(text)] * bool(text)
    assert (np.diff(ends) >= 0).all()


def test_tokens_that_end_inside_a_character_share_its_end():
    assert encoding("cl100k_base").ends("a🙃b").tolist() == [1, 2, 2, 2, 3]


@pytest.mark.parametrize("name", NAMES)
def test_ends_do_not_depend_on_blocks_or_threads(name, monkeypatch):
    text = "".join(SAMPLES.values()) * 20
    whole = encoding(name).ends(text)
    monkeypatch.setattr("memoir_engine.models.tokens._BLOCK", 50)
    assert encoding(name).ends(text, threads=2).tolist() == whole.tolist()


def test_a_million_blanks_are_counted_although_the_pattern_gives_up_on_them():
    ends = encoding("o200k_base").ends(" " * 1_000_000 + "x")
    assert ends[-1] == 1_000_001


RUNS = {
    "a letter": "a" * 300_000,
    "letters": "".join(map(chr, random.Random(1).choices(range(97, 123), k=300_000))),
    "full stops": "." * 300_000,
    "line breaks": "\n" * 300_000,
    "blanks": " " * 300_000,
    "minified JSON": '{"id":7,"name":"tea"},' * 14_000,
    "kana": "あ漢い" * 100_000,
    "Japanese full stops": "。" * 300_000,
}


@pytest.mark.parametrize(
    ("run", "maximum"), [*((run, 500) for run in RUNS), ("a letter", 20_000), ("blanks", 20_000), ("full stops", 20_000)]
)
def test_a_run_without_a_seam_is_cut_into_chunks_with_exact_counts(run, maximum):
    code, run = encoding("o200k_base"), RUNS[run]
    text = f"Before it stands a sentence. {run} And one behind it."
    pieces = cut(text, code, minimum=maximum // 2, maximum=maximum)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.tokens for piece in pieces] == [code.count(piece.text) for piece in pieces]
    assert max(piece.tokens for piece in pieces) <= maximum


def test_a_run_without_a_seam_is_tokenised_in_parts(monkeypatch):
    """As a whole it takes a time that grows faster than the run."""
    code = encoding("o200k_base")
    ids, asked = code._ids, []
    monkeypatch.setattr(code, "_ids", lambda text: (asked.append(len(text)), ids(text))[1])
    code.ends("x" * 500_000 + " " + "".join(map(chr, random.Random(1).choices(range(97, 123), k=500_000))))
    assert max(asked) < 300_000


def test_a_lone_surrogate_is_one_character():
    assert encoding("o200k_base").ends("a\ud800b")[-1] == 3


texts = st.text(st.characters() | st.sampled_from(" \n\t.。！、'/aAé1漢あ🙂\r\u0301"), max_size=60)


@given(texts, st.sampled_from(NAMES))
@settings(max_examples=300, deadline=None)
def test_where_a_text_splits_both_sides_have_the_tokens_they_have_together(text, name):
    code = encoding(name)
    ends = sorted(set(code.ends(text).tolist()))
    apart = [code.count(text[:at]) + code.count(text[at:]) for at in ends if code.splits(text, at)]
    assert apart == [code.count(text)] * len(apart)


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_what_its_own_bytes_merge_to(name):
    """`splits` relies on it. A sample of the vocabulary is merged by the rule that defines byte pair encoding."""
    ranks = {value: rank for rank, value in enumerate(_vocabulary(name))}
    sample = list(ranks)[::400]
    assert [_merged(ranks, value) for value in sample] == [[value] for value in sample]


def _vocabulary(name: str) -> list[bytes]:
    coder = encoding(name)._coder
    return [coder.decode_single_token_bytes(token) for token in range(len(coder.token_byte_values()))]


def _merged(ranks: dict[bytes, int], value: bytes) -> list[bytes]:
    parts = [bytes([byte]) for byte in value]
    while True:
        pairs = [(ranks[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:], strict=False)) if a + b in ranks]
        if not pairs:
            return parts
        _, i = min(pairs)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
