"""Signatures under a source or a branch, and whether they still stand for what was signed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memoir_engine.results.evidence import Action


@dataclass(frozen=True)
class SignOffPreview:
    """What a signature would stand for now. `digest` goes back with it, so that nobody signs what they have not seen.

    reviewed: of the chunks filed now, those that a person has looked at and not skipped.
    """

    subject: Literal["source", "category"]
    subject_id: int
    title: str
    digest: str
    chunks: int
    reviewed: int
    categories: int


@dataclass(frozen=True)
class SignOff:
    """Who signed what, with which words. `chunks`, `reviewed` and `categories` are as they were when it was signed.

    state: valid while the subject is as it was signed; void once it is not, since `ended_by` (None when no action explains
    it: the record was changed by hand); withdrawn by `ended_by`. `statement` is None where it was erased.
    """

    seq: int
    action_id: str
    subject: Literal["source", "category"]
    subject_id: int
    title: str
    signer: str
    at: datetime
    statement: str | None
    digest: str
    chunks: int
    reviewed: int
    categories: int
    state: Literal["valid", "void", "withdrawn"]
    ended_by: Action | None
