"""Errors of facts (E6xx). Source: CHUNK 12; TIMEM "Error Handling"; DESIGN §6, §11."""

from __future__ import annotations

from memoir_engine.errors.root import MemoirError


class FactError(MemoirError):
    code = "E600"
    message_form = "the facts could not be worked on: {problem}"
    remedy_form = "Correct the problem and try again."


class FactNotFound(FactError):
    code = "E601"
    message_form = "there is no fact {fact_id!r}"
    remedy_form = "facts.list() shows those there are."


class NothingExtracted(FactError):
    """Every cut of a conversation failed, or the first did and `fail_fast` is on."""

    code = "E602"
    message_form = "no facts could be drawn: cut {cut} failed ({problem}); {failed} of {cuts} cuts failed"
    remedy_form = "{advice}"
    retryable = True


class FactNotOutdated(FactError):
    code = "E603"
    message_form = "fact {fact_id!r} is in force already"
    remedy_form = "Only an outdated fact can be restored; facts.list(status='outdated') shows them."


class ProposalNotFound(FactError):
    code = "E604"
    message_form = "there is no open proposal {proposal_id}"
    remedy_form = "facts.proposals() shows those that wait for a person."


class FactsMoved(FactError):
    """Others kept changing the facts of one user while new ones were being compared with them."""

    code = "E605"
    message_form = "the facts of this user changed while new ones were compared with them, {times} times in a row"
    remedy_form = "Try again in a moment; nothing was stored, and answers paid for are in the ledger."
    retryable = True


class RememberingCancelled(FactError):
    code = "E606"
    message_form = "remembering was cancelled"
    remedy_form = "Nothing was stored. Start it again when you are ready."


class FactsNotYours(FactError):
    """Somebody would write facts for a user that they are not."""

    code = "E607"
    message_form = "{actor!r} may not write facts of user {user!r}"
    remedy_form = "Leave user_id out, or act as that user: memory.acting_as(name, user=…)."
