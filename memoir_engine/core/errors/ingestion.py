"""Errors of an ingestion (E2xx); after each of them nothing is stored. Source: MEMOIR 7.9, 7B."""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class IngestionError(MemoirError):
    code = "E200"
    message_form = "the ingestion failed: {problem}"
    remedy_form = "Nothing was stored. Correct the problem and ingest again."


class NothingToIngest(IngestionError):
    code = "E201"
    message_form = "{name!r} holds no text"
    remedy_form = "Give a text with at least one word; a scanned PDF needs text recognition first. Nothing was stored."


class FileTooLarge(IngestionError):
    code = "E202"
    message_form = "{name!r} is {size_mb:.1f} MB, more than max_file_mb ({limit_mb})"
    remedy_form = "Split the file, or raise max_file_mb. Nothing was stored."


class FileUnreadable(IngestionError):
    code = "E203"
    message_form = "{name!r} cannot be read as {kind}: {problem}"
    remedy_form = "Open it in its own program, save it again, and upload that copy. Nothing was stored."


class FileTypeUnknown(IngestionError):
    code = "E204"
    message_form = "{name!r} is not a text, Markdown, HTML, PDF, DOCX or e-mail file: {problem}"
    remedy_form = "Convert it to one of these, or paste its text. Nothing was stored."


class TextInvalid(IngestionError):
    code = "E205"
    message_form = "the text of {name!r} cannot be stored: {problem}"
    remedy_form = "{advice} Nothing was stored."


class SourceNotFound(IngestionError):
    code = "E206"
    message_form = "there is no source {source_id!r}"
    remedy_form = "sources.list() shows the sources there are."


class ChunkUnclassified(IngestionError):
    """The model gave no valid category for a chunk, retries included."""

    code = "E207"
    message_form = "chunk {position} of {name!r} got no valid category at level {level} after {attempts} attempts: {problem}"
    remedy_form = "Nothing was stored. Ingest again: answers already paid for are re-used, only what is missing is asked."
    retryable = True


class IngestionCancelled(IngestionError):
    code = "E208"
    message_form = "the ingestion of {name!r} was cancelled"
    remedy_form = "Nothing was stored. Ingest again: answers already paid for are re-used."


class CostCapReached(IngestionError):
    code = "E209"
    message_form = "the run stopped at {spent:.6f} USD, before a call of about {likely:.6f} USD: its cap is max_cost = {cap}"
    remedy_form = "Nothing was stored. Raise max_cost and ingest again: answers already paid for are re-used."


class HelperInvalid(IngestionError):
    code = "E210"
    message_form = "the contextual helper is invalid: {problem}"
    remedy_form = "{advice}"


class HelperNeeded(IngestionError):
    """auto_source_identification is off and nobody has said yet what the source is."""

    code = "E211"
    message_form = "{name!r} waits for its contextual helper"
    remedy_form = (
        "helpers.confirm({draft!r}, fields) goes on with date, author, topic and description; helpers.cancel({draft!r}) gives "
        "up. With contextual_helper=… nothing is asked. Nothing was stored yet."
    )


class DraftNotFound(IngestionError):
    code = "E212"
    message_form = "no ingestion {draft!r} waits for a contextual helper"
    remedy_form = "helpers.drafts() shows those that wait; this one may have been confirmed or cancelled."


class RunNotResumable(IngestionError):
    code = "E213"
    message_form = "run {run_id} cannot be resumed: {problem}"
    remedy_form = "{advice}"


class SourceNotCurrent(IngestionError):
    code = "E214"
    message_form = "source {source_id} is {status}; there can be no newer version of it"
    remedy_form = "{advice} Nothing was stored."


class SameAsAnother(IngestionError):
    code = "E216"
    message_form = (
        "{name!r} holds the same bytes and is in memory already; it cannot be a newer version of source {replaces} as well"
    )
    remedy_form = "Withdraw source {replaces} if {name!r} takes its place, or give another text. Nothing was stored."


class IngestionInterrupted(IngestionError):
    code = "E215"
    message_form = "the process stopped before the run finished"
    remedy_form = "Resume it: answers already paid for are re-used, only what is missing is asked. Nothing was stored yet."
    retryable = True
