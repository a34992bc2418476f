"""Errors of taxonomies that are brought in (E518–E519), and of branches that are locked (E77x)."""

from __future__ import annotations

from memoir_engine.core.errors.features import IngestionError, ReviewError


class TaxonomyUnreadable(ReviewError):
    """Not CSV, YAML or SKOS, or not with the columns, keys or concepts of a taxonomy."""

    code = "E518"
    message_form = "{name!r} cannot be read as a taxonomy: {problem}"
    remedy_form = "{advice} Nothing was changed."


class TaxonomyTooLarge(ReviewError):
    code = "E519"
    message_form = "{name!r} holds {found}, more than the {limit} that are brought in at once"
    remedy_form = "Divide the file by its upper branches, and bring in the parts one after another. Nothing was changed."


class CategoryLocked(ReviewError):
    """A category in a locked branch, or the whole tree."""

    code = "E770"
    message_form = "{name} is locked: nothing is made or changed there"
    remedy_form = "Ask an admin to make the change, or to unlock the branch."


class TaxonomyRefused(ReviewError):
    """One line or more cannot be brought in; `facts` has the first and how many there are."""

    code = "E771"
    message_form = "the taxonomy was not brought in: {problem}"
    remedy_form = "review.preview_taxonomy() shows every line and what is wrong with it. Mend the file, and bring it in again."


class NowhereToFile(IngestionError):
    """Every branch is locked, and none has a category at the deepest level."""

    code = "E772"
    message_form = "nothing can be filed: {where} is locked or full, and no category of level {depth} stands below it"
    remedy_form = (
        "Make a category at the deepest level, bring in a taxonomy, or have an admin unlock a branch. Nothing was stored."
    )
