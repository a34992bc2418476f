"""Every error Memoir raises: one class, one code, one exact message, one remedy.

MemoirError
├── ConfigurationError        E100
│   ├── UnknownSetting        E101
│   ├── InvalidSetting        E102
│   ├── ConflictingSettings   E103
│   ├── ChunkRangeInvalid     E104
│   ├── BudgetBelowChunk      E105
│   ├── LevelOutsideDepth     E106
│   ├── ModelNotNamed         E107
│   ├── ProviderMissing       E108
│   ├── KeyMissing            E109
│   ├── UnsupportedBackend    E004
│   └── NotRegistered         E110
├── IngestionError            E200
│   ├── NothingToIngest       E201
│   ├── FileTooLarge          E202
│   ├── FileUnreadable        E203
│   ├── FileTypeUnknown       E204
│   ├── TextInvalid           E205
│   ├── SourceNotFound        E206
│   ├── ChunkUnclassified     E207
│   ├── IngestionCancelled    E208
│   ├── CostCapReached        E209
│   └── HelperInvalid         E210
├── QueryError                E300
│   ├── QuestionEmpty         E301
│   ├── MemoryEmpty           E302
│   ├── BudgetTooSmall        E303
│   ├── PathsEmpty            E304
│   ├── SelectionInvalid      E305
│   ├── QueryCancelled        E306
│   ├── AnswerOverBudget      E307
│   └── TopKInvalid           E004
├── ModelError                E400
│   ├── ModelUnreachable      E401
│   ├── ModelRefusedKey       E402
│   ├── ModelNotFound         E403
│   ├── ModelRejectedRequest  E404
│   ├── ModelBusy             E405
│   ├── ModelTimedOut         E406
│   ├── ModelReplyInvalid     E407
│   ├── ModelReplyCut         E408
│   ├── ContextTooLong        E409
│   ├── ModelServerFailed     E410
│   └── ModelQuotaSpent       E411
├── DatabaseError             E500
│   ├── DatabaseUnreachable   E501
│   ├── DatabaseLost          E502
│   ├── SchemaTooNew          E503
│   ├── DepthMismatch         E504
│   ├── DriverMissing         E505
│   ├── WriteFailed           E506
│   └── LeaseHeld             E507
├── KnowledgeError            E001 E002 E003 E005 E006 (MEMOLLA's own texts)
├── ReviewError               E700
│   ├── NotAllowed            E701
│   ├── ActionNotFound        E702
│   ├── UndoBlocked           E703
│   ├── CategoryNotFound      E704
│   ├── ChunkNotFound         E705
│   ├── NotALeaf              E706
│   ├── NameInvalid           E707
│   ├── NameTaken             E708
│   ├── NothingChanges        E709
│   ├── LimitReached          E710
│   └── RunNotFound           E711
└── WrongThread               E120

`str(error)` is exactly `[mem][E201] …`; the remedy stands beside it as `error.remedy` and as a note (PEP 678).
Facts are formatted into both and never hold a secret.
Source: MEMOLLA §8 (form and texts of E001–E006), MEMOIR 6.5 and 7A.6 (remedies), DESIGN §11.
"""

from __future__ import annotations

from typing import Any, ClassVar

Fact = Any  # a value shown to a person inside a message: numbers, names, paths without credentials


class MemoirError(Exception):
    """Root of everything Memoir raises. `facts` are the values formatted into `message` and `remedy`."""

    code: ClassVar[str] = "E000"
    message_form: ClassVar[str] = "something went wrong"
    remedy_form: ClassVar[str] = "Please report this with the steps that led here."
    retryable: ClassVar[bool] = False

    def __init__(self, **facts: Fact) -> None:
        self.facts = facts
        self.message = self.message_form.format(**facts)
        self.remedy = self.remedy_form.format(**facts)
        super().__init__(f"[mem][{self.code}] {self.message}")
        self.add_note(f"→ {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.facts))  # errors cross the process border of file reading


def _rebuild(kind: type[MemoirError], facts: dict[str, Fact]) -> MemoirError:
    return kind(**facts)


# --- configuration -----------------------------------------------------------------------------------------------


class ConfigurationError(MemoirError):
    """A setting cannot work; raised before anything is opened."""

    code = "E100"
    message_form = "the configuration is invalid: {problem}"
    remedy_form = "Correct the setting named above; docs/settings.md lists all of them with their defaults."


class UnknownSetting(ConfigurationError):
    code = "E101"
    message_form = "unknown setting {name!r}"
    remedy_form = "Did you mean one of: {near}? docs/settings.md lists all settings."


class InvalidSetting(ConfigurationError):
    code = "E102"
    message_form = "{name} = {value!r} is invalid: {problem}"
    remedy_form = "{advice}"


class ConflictingSettings(ConfigurationError):
    code = "E103"
    message_form = "{first} and {second} cannot both be given"
    remedy_form = "Keep one of them: {advice}"


class ChunkRangeInvalid(ConfigurationError):
    code = "E104"
    message_form = "chunk_min_tokens ({minimum}) must be below chunk_max_tokens ({maximum})"
    remedy_form = "Lower chunk_min_tokens or raise chunk_max_tokens; defaults are 300 and 500."


class BudgetBelowChunk(ConfigurationError):
    code = "E105"
    message_form = "max_token_budget ({budget}) must be above {least} ({why})"
    remedy_form = "Raise max_token_budget; the default is 8000."


class LevelOutsideDepth(ConfigurationError):
    code = "E106"
    message_form = "category_limits names level {level}, but hierarchy_depth is {depth}"
    remedy_form = "Use levels 1 to {depth}, or raise hierarchy_depth."


class ModelNotNamed(ConfigurationError):
    code = "E107"
    message_form = "{origin} gives a model server, but no model is named"
    remedy_form = "Name a model the server offers: model=… or MEMOIR_MODEL=…; without the URL the offline model answers."


class ProviderMissing(ConfigurationError):
    code = "E108"
    message_form = "the model {model!r} needs the package for {provider}, which is not installed"
    remedy_form = "Install it with: pip install 'memoir-engine[{extra}]'"


class KeyMissing(ConfigurationError):
    code = "E109"
    message_form = "the model {model!r} needs an API key, and {variable} is not set"
    remedy_form = "Set {variable} in .env or the environment, or choose model='offline'."


class UnsupportedBackend(ConfigurationError):
    code = "E004"
    message_form = "Unsupported backend"
    remedy_form = "Use backend='auto'; {backend!r} is not one of: auto."


class NotRegistered(ConfigurationError):
    code = "E110"
    message_form = "no {kind} is registered under {name!r}"
    remedy_form = "Registered are: {names}."


class WrongThread(MemoirError):
    """A synchronous verb was called where waiting for it would never end."""

    code = "E120"
    message_form = "{verb}() cannot wait here: {problem}"
    remedy_form = "{advice}"


# --- ingestion ---------------------------------------------------------------------------------------------------


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


# --- query -------------------------------------------------------------------------------------------------------


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
    message_form = "no path fits: the question and the frame take {fixed} of {budget} tokens, the smallest path needs {needed}"
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
    message_form = "the final prompt takes {tokens} tokens, more than max_token_budget ({budget})"
    remedy_form = "Raise max_token_budget, or set a per_path_limit."


class TopKInvalid(QueryError):
    code = "E004"
    message_form = "top_k must be positive"
    remedy_form = "Give top_k of 1 or more; the default is 5."


# --- model -------------------------------------------------------------------------------------------------------


class ModelError(MemoirError):
    """A request to a model failed. `model` names it; the ledger keeps each attempt."""

    code = "E400"
    message_form = "the model {model!r} failed: {problem}"
    remedy_form = "Look at the run's calls for what was sent and what came back."


class ModelUnreachable(ModelError):
    code = "E401"
    message_form = "the model {model!r} at {server} cannot be reached: {problem}"
    remedy_form = "Check that the server runs and its base URL is right; then try again, or choose model='offline'."
    retryable = True


class ModelRefusedKey(ModelError):
    code = "E402"
    message_form = "the provider of {model!r} refused the API key"
    remedy_form = "Check the key in .env or the environment; keys are read when Memory opens."


class ModelNotFound(ModelError):
    code = "E403"
    message_form = "the provider does not know the model {model!r}"
    remedy_form = "Check the name, and its provider prefix; the provider's own page lists its models."


class ModelRejectedRequest(ModelError):
    code = "E404"
    message_form = "the model {model!r} rejected the request: {problem}"
    remedy_form = "Try output_mode='tool' or 'prompted'; some servers take no JSON schema."


class ModelBusy(ModelError):
    code = "E405"
    message_form = "the model {model!r} is overloaded or its rate limit is reached: {problem}"
    remedy_form = "Wait and try again, or lower max_concurrency; answers already paid for are re-used."
    retryable = True


class ModelTimedOut(ModelError):
    code = "E406"
    message_form = "the model {model!r} did not answer within {timeout_s:g} s"
    remedy_form = "Raise timeout_s, or lower batch_size."
    retryable = True


class ModelReplyInvalid(ModelError):
    code = "E407"
    message_form = "the model {model!r} did not answer in the form asked for: {problem}"
    remedy_form = "Try another output_mode, or a model that follows JSON schemas; the ledger keeps the reply."
    retryable = True


class ModelReplyCut(ModelError):
    code = "E408"
    message_form = "the reply of {model!r} was cut off at its token limit"
    remedy_form = "Lower batch_size, or use a model with a larger output limit."


class ContextTooLong(ModelError):
    code = "E409"
    message_form = "the prompt is longer than the context of {model!r}"
    remedy_form = "Lower max_token_budget or batch_size, or use a model with a larger context."


class ModelServerFailed(ModelError):
    """The server answered with a failure of its own (5xx), retries included."""

    code = "E410"
    message_form = "the server of {model!r} failed: {problem}"
    remedy_form = "Try again later; if it lasts, look at the server's own log. Answers already paid for are re-used."
    retryable = True


class ModelQuotaSpent(ModelError):
    """Unlike ModelBusy, waiting does not help."""

    code = "E411"
    message_form = "the account for {model!r} has no quota left: {problem}"
    remedy_form = "Check plan and billing at the provider, or choose another model; answers already paid for are re-used."


# --- database ----------------------------------------------------------------------------------------------------


class DatabaseError(MemoirError):
    code = "E500"
    message_form = "the database failed: {problem}"
    remedy_form = "Nothing was half stored. Check the database and try again."


class DatabaseUnreachable(DatabaseError):
    code = "E501"
    message_form = "the database at {url} cannot be opened: {problem}"
    remedy_form = "Check that the server runs, that host, port, name and password are right, and that the folder can be written to."
    retryable = True


class DatabaseLost(DatabaseError):
    code = "E502"
    message_form = "the connection to {url} was lost and did not come back after {attempts} attempts"
    remedy_form = "Nothing was half stored. Check the database server and try again; answers already paid for are re-used."
    retryable = True


class SchemaTooNew(DatabaseError):
    code = "E503"
    message_form = "the database has schema {found}, this version knows {known}"
    remedy_form = "Update memoir-engine, or open the database with the version that wrote it."


class DepthMismatch(DatabaseError):
    code = "E504"
    message_form = "this memory has hierarchy_depth {stored}, it was opened with {given}"
    remedy_form = "Open it with hierarchy_depth={stored}, or ingest its sources into a new memory of depth {given}."


class DriverMissing(DatabaseError):
    code = "E505"
    message_form = "the driver for {url} is not installed"
    remedy_form = "Install it with: pip install 'memoir-engine[{extra}]'"


class WriteFailed(DatabaseError):
    code = "E506"
    message_form = "{operation} could not be written: {problem}"
    remedy_form = "It was rolled back, nothing was half stored. Check space and rights of the database and try again."
    retryable = True


class LeaseHeld(DatabaseError):
    code = "E507"
    message_form = "another ingestion ({owner}) is still running"
    remedy_form = "Wait for it, or cancel it; it is taken over when it shows no life for {timeout_s:g} s."
    retryable = True


# --- knowledge and conversations: MEMOLLA's exact texts -----------------------------------------------------------


class KnowledgeError(MemoirError):
    code = "E006"
    message_form = "target not found"
    remedy_form = "sources.list() and sessions.list_sessions() show what there is."


class ConversationInputMissing(KnowledgeError):
    code = "E001"
    message_form = "session_id and content are required"
    remedy_form = "Give both as non-empty strings."


class DocIdExists(KnowledgeError):
    code = "E002"
    message_form = "doc_id already exists"
    remedy_form = "Choose another doc_id, or withdraw the source that has it."


class SummaryTargetUnclear(KnowledgeError):
    code = "E003"
    message_form = "specify either session_id or doc_id"
    remedy_form = "Give exactly one of the two."


class OptimizeNotImplemented(KnowledgeError, NotImplementedError):
    code = "E005"
    message_form = "optimize level not implemented"
    remedy_form = "Nothing needs optimising: indexes keep themselves; reindex() rebuilds them."


class TargetNotFound(KnowledgeError):
    code = "E006"


# --- review ------------------------------------------------------------------------------------------------------


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
    """Something stands on the action, or its place is taken; nothing was changed."""

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
