"""Errors of a question (E3xx). Source: MEMOIR 4.6, 9."""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class QueryError(MemoirError):
    code = "E300"
    message_form = "the query failed: {problem}"
    remedy_form = "Correct the problem and ask again."


class QuestionEmpty(QueryError):
    code = "E301"
    message_form = "the question is empty"
    remedy_form = "Ask in at least one word."


class MemoryEmpty(QueryError):
    code = "E302"
    message_form = "there is nothing in memory to ask"
    remedy_form = "Ingest something first: ingest_text(), ingest_file(), or the Sources page."


class BudgetTooSmall(QueryError):
    code = "E303"
    message_form = "no path fits: question and frame take {fixed} of {budget} tokens, the highest-ranked path needs {needed}"
    remedy_form = "Raise max_token_budget, set a per_path_limit, or choose prompt_limiting_strategy='SUMMARIZE'."


class PathsEmpty(QueryError):
    code = "E304"
    message_form = "none of the {count} selected paths holds a chunk"
    remedy_form = "Ask with a wider strategy (wide_branch, branch_out), or without a limit to sources."


class SelectionInvalid(QueryError):
    """The model's selection at a level was wrong twice."""

    code = "E305"
    message_form = "the model gave no valid selection at level {level}: {problem}"
    remedy_form = "Ask again, choose another strategy, or use a model that follows JSON schemas."
    retryable = True


class QueryCancelled(QueryError):
    code = "E306"
    message_form = "the question was cancelled"
    remedy_form = "Ask again when you are ready."


class AnswerOverBudget(QueryError):
    code = "E307"
    message_form = (
        "the required compression could not be achieved: "
        "with the summaries the final prompt takes {tokens} tokens, more than max_token_budget ({budget})"
    )
    remedy_form = "Raise max_token_budget, set a per_path_limit, or choose PRUNE."


class SummariesTooLong(QueryError):
    """SUMMARIZE: even after the retries the summaries together are above their budget of characters."""

    code = "E308"
    message_form = "the summaries take {chars} characters together, {allowed} are allowed"
    remedy_form = "Raise max_token_budget, summary_max_retries or summary_char_overage_tolerance_percent, or choose PRUNE."
    retryable = True


class NoRoomForContent(QueryError):
    code = "E309"
    message_form = "the question and the frame take {fixed} of {budget} tokens; nothing is left for content"
    remedy_form = "Raise max_token_budget, or ask a shorter question."


class SummaryMissing(QueryError):
    code = "E310"
    message_form = "the model gave no summary of {count} chunks (chunk {chunk_id} first) in {attempts} attempts"
    remedy_form = "Ask again, choose PRUNE, or use a model that follows JSON schemas."
    retryable = True


class SourcesNotFiled(QueryError):
    code = "E311"
    message_form = "none of the {count} sources asked is filed in the tree"
    remedy_form = "Ask without sources=…, or name sources in force; sources.list() shows the status of each."


class NothingFiledThen(QueryError):
    """A question as of a moment at which the tree was empty."""

    code = "E314"
    message_form = "nothing was filed as of event {seq}"
    remedy_form = "Ask as of a later moment; tree.moments() shows when the tree changed."


class ChoiceGone(QueryError):
    """What-if: a category that was followed at the time is no longer offered."""

    code = "E312"
    message_form = "category {category_id} is no longer offered at level {level}"
    remedy_form = "Ask the question again: the tree has changed since."


class ChoiceNotOffered(QueryError):
    """What-if: only an option that the decision offered can be chosen instead."""

    code = "E313"
    message_form = "decision {decision_id} cannot take {category_ids}: {problem}"
    remedy_form = "runs.query(run_id).decisions shows each decision with its options; take others than it chose."


class TopKInvalid(QueryError):
    code = "E004"
    message_form = "top_k must be positive"
    remedy_form = "Give top_k of 1 or more; the default is 5."
