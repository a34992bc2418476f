"""Errors of a reviewer's decision about one item (E73x). Source: DESIGN §6."""

from __future__ import annotations

from memoir_engine.errors.review import ReviewError


class ReviewItemNotFound(ReviewError):
    code = "E730"
    message_form = "there is no item {key!r} to be reviewed"
    remedy_form = "review.queue() shows the items there are."


class ReviewOvertaken(ReviewError):
    """Somebody else was faster; the fact `by` is who."""

    code = "E731"
    message_form = "{by} was faster: item {key!r} was {what} meanwhile"
    remedy_form = "Look at it again; a decision of somebody else can be undone, or decided against."
