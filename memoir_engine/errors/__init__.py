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
│   ├── NotRegistered         E110
│   └── DataDirUnusable       E111
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
│   ├── HelperInvalid         E210
│   ├── HelperNeeded          E211
│   ├── DraftNotFound         E212
│   ├── RunNotResumable       E213
│   ├── SourceNotCurrent      E214
│   └── IngestionInterrupted  E215
├── QueryError                E300
│   ├── QuestionEmpty         E301
│   ├── MemoryEmpty           E302
│   ├── BudgetTooSmall        E303
│   ├── PathsEmpty            E304
│   ├── SelectionInvalid      E305
│   ├── QueryCancelled        E306
│   ├── AnswerOverBudget      E307
│   ├── SummariesTooLong      E308
│   ├── NoRoomForContent      E309
│   ├── SummaryMissing        E310
│   ├── SourcesNotFiled       E311
│   ├── ChoiceGone            E312
│   ├── ChoiceNotOffered      E313
│   ├── NothingFiledThen      E314
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
│   ├── ModelQuotaSpent       E411
│   └── CostUnknown           E412
├── DatabaseError             E500
│   ├── DatabaseUnreachable   E501
│   ├── DatabaseLost          E502
│   ├── SchemaTooNew          E503
│   ├── DepthMismatch         E504
│   ├── DriverMissing         E505
│   ├── WriteFailed           E506
│   ├── LeaseHeld             E507
│   ├── ReadFailed            E508
│   ├── ExportFailed          E510
│   ├── ImportRefused         E511
│   │   └── ImportTooNew      E512
│   └── StoreNotEmpty         E513
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
│   ├── RunNotFound           E711
│   ├── WrongLevel            E712
│   ├── CategoryInUse         E713
│   ├── NotInside             E714
│   ├── SignedStateChanged    E715
│   ├── SourceErased          E720
│   ├── ErasedMeanwhile       E721
│   ├── ReviewItemNotFound    E730
│   └── ReviewOvertaken       E731
├── MemoryClosed              E121
└── WrongThread               E120

`str(error)` is exactly `[mem][E201] …`; the remedy stands beside it as `error.remedy` and as a note (PEP 678).
Facts are formatted into both and never hold a secret.
Source: MEMOLLA §8 (form and texts of E001–E006), MEMOIR 6.5 and 7A.6 (remedies), DESIGN §11.
"""

from __future__ import annotations

from memoir_engine.errors.configuration import (
    BudgetBelowChunk,
    ChunkRangeInvalid,
    ConfigurationError,
    ConflictingSettings,
    DataDirUnusable,
    InvalidSetting,
    KeyMissing,
    LevelOutsideDepth,
    MemoryClosed,
    ModelNotNamed,
    NotRegistered,
    ProviderMissing,
    UnknownSetting,
    UnsupportedBackend,
    WrongThread,
)
from memoir_engine.errors.database import (
    DatabaseError,
    DatabaseLost,
    DatabaseUnreachable,
    DepthMismatch,
    DriverMissing,
    LeaseHeld,
    ReadFailed,
    SchemaTooNew,
    WriteFailed,
)
from memoir_engine.errors.erasing import ErasedMeanwhile, SourceErased
from memoir_engine.errors.ingestion import (
    ChunkUnclassified,
    CostCapReached,
    DraftNotFound,
    FileTooLarge,
    FileTypeUnknown,
    FileUnreadable,
    HelperInvalid,
    HelperNeeded,
    IngestionCancelled,
    IngestionError,
    IngestionInterrupted,
    NothingToIngest,
    RunNotResumable,
    SourceNotCurrent,
    SourceNotFound,
    TextInvalid,
)
from memoir_engine.errors.knowledge import (
    ConversationInputMissing,
    DocIdExists,
    KnowledgeError,
    OptimizeNotImplemented,
    SummaryTargetUnclear,
    TargetNotFound,
)
from memoir_engine.errors.model import (
    ContextTooLong,
    CostUnknown,
    ModelBusy,
    ModelError,
    ModelNotFound,
    ModelQuotaSpent,
    ModelRefusedKey,
    ModelRejectedRequest,
    ModelReplyCut,
    ModelReplyInvalid,
    ModelServerFailed,
    ModelTimedOut,
    ModelUnreachable,
)
from memoir_engine.errors.moving import ExportFailed, ImportRefused, ImportTooNew, StoreNotEmpty
from memoir_engine.errors.query import (
    AnswerOverBudget,
    BudgetTooSmall,
    ChoiceGone,
    ChoiceNotOffered,
    MemoryEmpty,
    NoRoomForContent,
    NothingFiledThen,
    PathsEmpty,
    QueryCancelled,
    QueryError,
    QuestionEmpty,
    SelectionInvalid,
    SourcesNotFiled,
    SummariesTooLong,
    SummaryMissing,
    TopKInvalid,
)
from memoir_engine.errors.review import (
    ActionNotFound,
    CategoryInUse,
    CategoryNotFound,
    ChunkNotFound,
    LimitReached,
    NameInvalid,
    NameTaken,
    NotALeaf,
    NotAllowed,
    NothingChanges,
    NotInside,
    ReviewError,
    RunNotFound,
    SignedStateChanged,
    UndoBlocked,
    WrongLevel,
)
from memoir_engine.errors.root import MemoirError, retold
from memoir_engine.errors.verdicts import ReviewItemNotFound, ReviewOvertaken

__all__ = [
    "ActionNotFound",
    "AnswerOverBudget",
    "BudgetBelowChunk",
    "BudgetTooSmall",
    "CategoryInUse",
    "CategoryNotFound",
    "ChoiceGone",
    "ChoiceNotOffered",
    "ChunkNotFound",
    "ChunkRangeInvalid",
    "ChunkUnclassified",
    "ConfigurationError",
    "ConflictingSettings",
    "ContextTooLong",
    "ConversationInputMissing",
    "CostCapReached",
    "CostUnknown",
    "DataDirUnusable",
    "DatabaseError",
    "DatabaseLost",
    "DatabaseUnreachable",
    "DepthMismatch",
    "DocIdExists",
    "DraftNotFound",
    "DriverMissing",
    "ErasedMeanwhile",
    "ExportFailed",
    "FileTooLarge",
    "FileTypeUnknown",
    "FileUnreadable",
    "HelperInvalid",
    "HelperNeeded",
    "ImportRefused",
    "ImportTooNew",
    "IngestionCancelled",
    "IngestionError",
    "IngestionInterrupted",
    "InvalidSetting",
    "KeyMissing",
    "KnowledgeError",
    "LeaseHeld",
    "LevelOutsideDepth",
    "LimitReached",
    "MemoirError",
    "MemoryClosed",
    "MemoryEmpty",
    "ModelBusy",
    "ModelError",
    "ModelNotFound",
    "ModelNotNamed",
    "ModelQuotaSpent",
    "ModelRefusedKey",
    "ModelRejectedRequest",
    "ModelReplyCut",
    "ModelReplyInvalid",
    "ModelServerFailed",
    "ModelTimedOut",
    "ModelUnreachable",
    "NameInvalid",
    "NameTaken",
    "NoRoomForContent",
    "NotALeaf",
    "NotAllowed",
    "NotInside",
    "NotRegistered",
    "NothingChanges",
    "NothingFiledThen",
    "NothingToIngest",
    "OptimizeNotImplemented",
    "PathsEmpty",
    "ProviderMissing",
    "QueryCancelled",
    "QueryError",
    "QuestionEmpty",
    "ReadFailed",
    "ReviewError",
    "ReviewItemNotFound",
    "ReviewOvertaken",
    "RunNotFound",
    "RunNotResumable",
    "SchemaTooNew",
    "SelectionInvalid",
    "SignedStateChanged",
    "SourceErased",
    "SourceNotCurrent",
    "SourceNotFound",
    "SourcesNotFiled",
    "StoreNotEmpty",
    "SummariesTooLong",
    "SummaryMissing",
    "SummaryTargetUnclear",
    "TargetNotFound",
    "TextInvalid",
    "TopKInvalid",
    "UndoBlocked",
    "UnknownSetting",
    "UnsupportedBackend",
    "WriteFailed",
    "WrongLevel",
    "WrongThread",
    "retold",
]
