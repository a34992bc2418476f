"""Texts of the Settings page.

Invariant: a mistyped head is called mistyped; only the engine's own check calls a chain changed.
"""

from __future__ import annotations

from ui.words import Words


class Settings(Words):
    IN_FORCE = "In force"
    IN_FORCE_ABOUT = "Settings come from arguments, then the .env file, then the environment. Keys are shown only as set."
    MODEL_TITLE = "Model"
    MODEL_ABOUT = (
        "Name a model with MEMOIR_MODEL (for example gpt-4o-mini, anthropic:…, google:…, ollama:…) in a .env file "
        "beside the app, "
        "with its key, and start the app again."
    )
    NO_MODEL = "none named: {model} answers"
    ASKING = "Asking"
    TEST_CALL = "Test call"
    TEST_OK = "{model} answered in {latency}."
    TEST_TOKENS = "{prompt} tokens in, {completion} out"
    TEST_FAILED = "The model did not answer"
    PLACE_TITLE = "Where it is kept"
    SEARCH_TITLE = "Search"
    LEXICAL_ABOUT = (
        "Passages are found by their words and by pieces of words. No model reads them: what is said in other words is "
        "not found. "
        "Name an embedder with MEMOIR_EMBEDDER to search by meaning, too."
    )
    SEMANTIC_ABOUT = "Passages are found by their words and by their meaning, as this embedder sees it."
    EMBEDDER = "Compared by"
    EMBEDDER_HELP = "Kept in the .env file beside the app. Runs under way are stopped; ingestions among them can be resumed."
    EMBEDDER_USE = "Use it"
    REINDEX = "Rebuild the indexes"
    REINDEX_HELP = (
        "Only where something looks wrong: the indexes keep themselves. Texts are not touched, and vectors that are "
        "there are kept. "
        "You can go on working meanwhile."
    )
    REINDEX_STEPS = {
        "passages": "Cutting passages",
        "words": "Words of {total} passages",
        "vectors": "Vectors: {done} of {total} passages",
    }
    REINDEXED = "{passages}, {vectors} with a vector, rebuilt in {took}."
    REINDEX_FAILED = "The indexes were not rebuilt. Search continues with what is there."


texts = Settings()
