from __future__ import annotations

from memoir_engine.text.similarity import OptionIndex, group_close_names, sample, term_vector
from memoir_engine.text.terms import terms

IDS = {stem: at for at, stem in enumerate(terms("tax income treasury whale sea squid").counts)}


def rows(*texts: str):
    return [term_vector(terms(text), IDS) for text in texts]


def test_a_sample_is_even_and_starts_with_the_first():
    assert sample(10, 3) == [0, 3, 6]
    assert sample(3, 10) == [0, 1, 2]


def test_nearness_is_half_the_centroid_and_half_the_best_examples():
    shelf = OptionIndex([rows("tax income"), rows("whale sea")])
    assert shelf.nearness(rows("tax income")).tolist() == [[1.0, 0.0]]


def test_words_nobody_has_used_make_a_text_farther():
    shelf = OptionIndex([rows("tax income"), rows("whale sea")])
    near, far = shelf.nearness([*rows("tax income"), *rows("tax income zeppelin glider")])[:, 0]
    assert far < near


def test_no_example_at_all_gives_zeros():
    assert OptionIndex([[], []]).nearness(rows("tax")).tolist() == [[0.0, 0.0]]
    assert OptionIndex([]).nearness(rows("tax")).shape == (1, 0)


def test_close_names_are_those_whose_texts_are_alike():
    texts = {
        "Taxes": [terms("tax income treasury taxpayer revenue")],
        "Tax policy": [terms("tax income treasury taxpayer levy")],
        "Whales": [terms("whale sea squid calf")],
    }
    assert group_close_names(texts) == (("Taxes", "Tax policy"),)


def test_names_within_one_another_are_close_whatever_their_texts():
    texts = {
        "VGA": [terms("monitor cable pins")],
        "VGA chips": [terms("memory bandwidth register")],
        "Subject 1": [terms("tax income")],
        "Subject 2": [terms("whale squid")],
    }
    assert group_close_names(texts) == (("VGA", "VGA chips"),)


def test_a_single_name_and_no_name_are_close_to_nothing():
    assert group_close_names({"Taxes": [terms("tax")]}) == ()
    assert group_close_names({}) == ()
