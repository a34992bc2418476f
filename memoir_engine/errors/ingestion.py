"""Errors of an ingestion (E2xx); after each of them nothing is stored. Source: MEMOIR 7.9, 7B."""

from __future__ import annotations

from memoir_engine.errors.root import MemoirError


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
    message_form = "{name!r} is not a text, Markdown, HTML, PDF or DOCX file: {problem}"
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
    message_form = "the run stopped at {spent:.4f} USD, its cap is max_cost = {cap}"
    remedy_form = "Nothing was stored. Raise max_cost and ingest again: answers already paid for are re-used."


class HelperInvalid(IngestionError):
    code = "E210"
    message_form = "the contextual helper is invalid: {problem}"
    remedy_form = "{advice}"
