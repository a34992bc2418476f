"""Texts of the question's form and of the answer's page: options, figures, citations and their pages."""

from __future__ import annotations

from ui.words import Plural, Words


class Answers(Words):
    SHOW_ALL, SHOW_LESS = "Show the whole answer", "Show less"
    PAGE = "page {page}"
    LEVELS = Plural("{count} level", "{count} levels")
    FOLLOWED = "{chosen} of {offered} categories followed"
    DROPPED = Plural("{count} path dropped", "{count} paths dropped")
    UP_TO = {
        "level": "up to {n} categories per level in total",
        "path": "up to {n} categories per level for each open path",
    }
    PATH_WORDS = {
        "path": "Decision path, level by level",
        "ladder": "Choices that filed this chunk, level by level",
        "sideways": "Scroll sideways to follow the whole path",
    }


texts = Answers()
