"""Errors of changes by a person: edits, verdicts (E73x) and erasure (E72x). Source: DESIGN §6."""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class ReviewError(MemoirError):
    code = "E700"
    message_form = "the change was not made: {problem}"
    remedy_form = "Look at the preview for what stands in its way."


class NotAllowed(ReviewError):
    code = "E701"
    message_form = "{actor!r} may not {verb}: it needs the role {role}"
    remedy_form = "Ask an admin for the role {role}, or sign in as somebody who has it."


class ActionNotFound(ReviewError):
    code = "E702"
    message_form = "there is no action {action_id!r}"
    remedy_form = "audit.events() shows the actions there are."


class UndoBlocked(ReviewError):
    """Later changes depend on the action, or its place is taken; nothing was changed."""

    code = "E703"
    message_form = "action {action_id!r} cannot be undone: {problem}"
    remedy_form = "{advice}"


class CategoryNotFound(ReviewError):
    code = "E704"
    message_form = "there is no category {category_id!r}"
    remedy_form = "tree.roots() and tree.children() show the categories there are."


class ChunkNotFound(ReviewError):
    code = "E705"
    message_form = "there is no chunk {chunk_id!r}"
    remedy_form = "tree.chunks() shows the chunks of a category."


class NotALeaf(ReviewError):
    code = "E706"
    message_form = "{name!r} is at level {level}; chunks are filed at level {depth} only"
    remedy_form = "Choose one of its categories at level {depth}."


class NameInvalid(ReviewError):
    code = "E707"
    message_form = "{name!r} cannot be a category name: {problem}"
    remedy_form = "Use 1 to {limit} characters without › and control characters."


class NameTaken(ReviewError):
    code = "E708"
    message_form = "{name!r} already exists under {parent!r}"
    remedy_form = "Choose another name, or merge the two."


class NothingChanges(ReviewError):
    code = "E709"
    message_form = "nothing would change: {problem}"
    remedy_form = "Choose something else."


class LimitReached(ReviewError):
    code = "E710"
    message_form = "{parent!r} already has {count} categories, the limit of level {level}"
    remedy_form = "Merge or retire one of them, or raise category_limit."


class RunNotFound(ReviewError):
    code = "E711"
    message_form = "there is no run {run_id!r}"
    remedy_form = "runs.list() shows the runs there are."


class WrongLevel(ReviewError):
    """Depth never changes: a category stands below one a level above it, and is merged with one of its own level."""

    code = "E712"
    message_form = "{name!r} is at level {level}: {problem}"
    remedy_form = "{advice}"


class CategoryInUse(ReviewError):
    code = "E713"
    message_form = "{name!r} is not empty: it holds {what}"
    remedy_form = "Move or merge what is in it first, then retire it."


class NotInside(ReviewError):
    code = "E714"
    message_form = "{what} is not in {name!r}"
    remedy_form = "tree.chunks() shows the chunks of a leaf, tree.children() the categories below one."


class SignedStateChanged(ReviewError):
    """A signature needs the state that its signer has seen."""

    code = "E715"
    message_form = "{title!r} has changed since it was looked at"
    remedy_form = "Look at it again, then sign what stands there now."


class ReviewItemNotFound(ReviewError):
    code = "E730"
    message_form = "there is no item {key!r} to be reviewed"
    remedy_form = "review.queue() shows the items there are."


class ReviewOvertaken(ReviewError):
    """Another reviewer decided first; `by` names them."""

    code = "E731"
    message_form = "{by} decided first: item {key!r} was {what}"
    remedy_form = "Look at it again; undo their decision or record a different one."


class SourceErased(ReviewError):
    code = "E720"
    message_form = "source {source_id!r} was erased"
    remedy_form = "What was erased cannot come back. sources.tombstone({source_id}) says by whom it was erased, when and why."


class ErasedMeanwhile(ReviewError):
    """The run may hold what was erased: nothing of it is written any more."""

    code = "E721"
    message_form = "a source was erased while this run was under way"
    remedy_form = "Ask again, or go on with it: it starts from what is there now."
    retryable = True
