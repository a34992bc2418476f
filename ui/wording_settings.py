"""Texts of the Settings page.

Invariant: a mistyped head is called mistyped; only the engine's own check calls a chain changed.
"""

from __future__ import annotations

from ui.words import Words


class Settings(Words):
    IN_FORCE = "Current settings"
    IN_FORCE_ABOUT = (
        "Settings come from arguments, then the .env file, then the environment. For keys you only see whether they are set."
    )
    MODEL_TITLE = "Model"
    MODEL_ABOUT = "This model files texts and answers questions. Changing it is recorded and can be undone in Activity."
    MODEL_FIXED = "The model was set when the memory was opened, so it cannot be changed here."
    MODEL_CHOICE = "Model to use"
    MODEL_USE = "Use this model"
    MODEL_PRICE = "{sent} for a million tokens in, {received} for a million out"
    MODEL_NO_PRICE = "Its price is not known."
    MODEL_WINDOW = "Reads up to {tokens} tokens at once"
    MODEL_COST = "Everything asked for this memory so far would have cost {cost}."
    KEY_THERE = "A key for this model is set. Enter another one to replace it."
    KEY_MISSING = "This model needs a key from its provider."
    KEY_FIELD = "API key"
    KEY_HELP = "Stored in a file on this server that only its owner can read. It is never shown again."
    KEY_KEEP = "Test and save the key"
    NO_MODEL = "not set: using {model}"
    ASKING = "Asking…"
    TEST_CALL = "Test the model"
    TEST_OK = "{model} answered in {latency}."
    TEST_TOKENS = "{prompt} tokens in, {completion} out"
    TEST_FAILED = "The model did not answer"
    PLACE_TITLE = "Where data is stored"
    SEARCH_TITLE = "Search"
    LEXICAL_ABOUT = (
        "Passages are found by words and parts of words, not by meaning: the same thing said in other words is not "
        "found. Set MEMOIR_EMBEDDER to search by meaning, too."
    )
    SEMANTIC_ABOUT = "Passages are found by words and by meaning, as this embedder sees it."
    EMBEDDER = "Embedder"
    EMBEDDER_HELP = "Saved in the .env file beside the app. Runs in progress are stopped; those that add sources can be resumed."
    EMBEDDER_USE = "Use this one"
    REINDEX = "Rebuild search indexes"
    REINDEX_HELP = (
        "Only needed if search results look wrong. Your texts are not changed, existing vectors are kept, and you "
        "can keep working."
    )
    REINDEX_STEPS = {
        "passages": "Creating passages",
        "words": "Indexing words of {total} passages",
        "vectors": "Creating vectors: {done} of {total} passages",
    }
    REINDEXED = "{passages}, {vectors} with a vector, rebuilt in {took}."
    REINDEX_FAILED = "The indexes could not be rebuilt. Search continues with the existing ones."


texts = Settings()
