"""The tree of errors: each class under its code. A test holds it equal to the classes.

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
│   ├── DataDirUnusable       E111
│   └── ExtraMissing          E112
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
│   ├── IngestionInterrupted  E215
│   └── SameAsAnother         E216
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
├── FactError                 E600
│   ├── FactNotFound          E601
│   ├── NothingExtracted      E602
│   ├── FactNotOutdated       E603
│   ├── ProposalNotFound      E604
│   ├── FactsMoved            E605
│   ├── RememberingCancelled  E606
│   └── FactsNotYours         E607
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
├── ConversationError         E800
│   ├── MessageRefused        E801
│   ├── FormatUnknown         E802
│   ├── SessionNotFound       E803
│   └── HistoryRefused        E804
├── MemoryClosed              E121
└── WrongThread               E120
"""
