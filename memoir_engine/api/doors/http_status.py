"""The status of HTTP under which each error of Memoir is answered. Pure.

Invariant: an error that is in no list is 422: it was understood, and cannot be done as asked.
Source: RFC 9110 §15; docs/decisions/0122.
"""

from __future__ import annotations

from memoir_engine.core import errors
from memoir_engine.core.errors import MemoirError

UNPROCESSABLE = 422
STATUSES: dict[int, tuple[type[MemoirError], ...]] = {
    400: (errors.RequestInvalid,),
    401: (errors.TokenRefused,),
    403: (
        *(errors.NotAllowed, errors.FactsNotYours, errors.AnswerNotYours, errors.SharingOff),
        *(errors.SecondSignatureNeeded, errors.OwnDecisionStands),
    ),
    404: (
        *(errors.PathUnknown, errors.SourceNotFound, errors.DraftNotFound, errors.FactNotFound, errors.ProposalNotFound),
        *(errors.PersonNotFound, errors.TargetNotFound, errors.SessionNotFound, errors.ActionNotFound, errors.RunNotFound),
        *(errors.CategoryNotFound, errors.ChunkNotFound, errors.ReviewItemNotFound, errors.TreeProposalNotFound),
        *(errors.FeedbackNotFound, errors.SamplingPlanNotFound, errors.TokenNotFound),
    ),
    405: (errors.MethodRefused,),
    409: (
        *(errors.NothingChanges, errors.NameTaken, errors.DocIdExists, errors.UndoBlocked, errors.FactsMoved, errors.LeaseHeld),
        *(errors.ReviewOvertaken, errors.ProposalOvertaken, errors.SignedStateChanged, errors.ErasedMeanwhile),
        *(errors.ChoiceGone, errors.SampleUnfinished, errors.CategoryInUse),
    ),
    410: (errors.SourceErased,),
    413: (errors.RequestTooLarge, errors.FileTooLarge),
    500: (errors.DoorFailed,),
    503: (errors.DatabaseError, errors.MemoryClosed, errors.ModelBusy, errors.ModelUnreachable),
    504: (errors.ModelTimedOut,),
    502: (errors.ModelError,),
}


def status_of(error: MemoirError) -> int:
    """Return the status of an error; the first list that names its class, or one above it, decides."""
    return next((status for status, kinds in STATUSES.items() if isinstance(error, kinds)), UNPROCESSABLE)
