"""Errors of facts: remembering, settling, and putting them right by hand.

Source: TIMEM "Error Handling"; MEMOIR 6.5 (remedies); DESIGN §11.
"""

from __future__ import annotations

from memoir_engine.core.errors.system import MemoirError


class FactError(MemoirError):
    code = "E600"
    message_form = "the facts could not be worked on: {problem}"
    remedy_form = "Correct the problem and try again."


class FactNotFound(FactError):
    code = "E601"
    message_form = "there is no fact {fact_id!r}"
    remedy_form = "facts.users() shows whose facts there are, facts.list(user_id) those of one with their ids."


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
    """An actor tried to write another user's facts."""

    code = "E607"
    message_form = "{actor!r} may not write facts of user {user!r}"
    remedy_form = "Leave user_id out, or act as that user: memory.acting_as(name, user=…)."


class FactContentInvalid(FactError):
    code = "E608"
    message_form = "not a valid statement of a fact: expected 1 to {limit} characters, and it has {count}"
    remedy_form = "Say it in one short sentence, e.g. 'Lives in Bern'; several things are several facts. Nothing was changed."


class FactDatesInvalid(FactError):
    """An end before its beginning, or an expiry that is past."""

    code = "E609"
    message_form = "not valid dates of a fact: {problem}"
    remedy_form = "{advice} Nothing was changed."


class FactNotInForce(FactError):
    """Only what is in force can be ended or expire, and only what was once believed can be corrected."""

    code = "E610"
    message_form = "fact {fact_id!r} is outdated already ({cause})"
    remedy_form = "{advice} Nothing was changed."
