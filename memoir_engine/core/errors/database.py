"""Errors of the store, and of export and import (E5xx), translated at the border of the store.

Source: MEMOIR 1.5, 7.5, 7B.7; API "The ledger and the audit".
"""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class DatabaseError(MemoirError):
    code = "E500"
    message_form = "the database failed: {problem}"
    remedy_form = "No partial data was stored. Check the database and try again."


class DatabaseUnreachable(DatabaseError):
    code = "E501"
    message_form = "the database at {url} cannot be opened: {problem}"
    remedy_form = (
        "Check that the server runs, that host, port, name and password are right, and that the folder can be written to."
    )
    retryable = True


class DatabaseLost(DatabaseError):
    code = "E502"
    message_form = "the connection to {url} was lost and did not come back after {attempts} attempts"
    remedy_form = "No partial data was stored. Check the database server and try again; answers already paid for are re-used."
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
    remedy_form = "It was rolled back, no partial data was stored. Check space and rights of the database and try again."
    retryable = True


class ReadFailed(DatabaseError):
    code = "E508"
    message_form = "the database could not be read: {problem}"
    remedy_form = (
        "No partial data was stored. Check the database and its rights and try again; answers already paid for are re-used."
    )
    retryable = True


class LeaseHeld(DatabaseError):
    code = "E507"
    message_form = "another ingestion ({owner}) is still running"
    remedy_form = "Wait for it, or cancel it; it is taken over when it shows no life for {timeout_s:g} s."
    retryable = True


class ExportFailed(DatabaseError):
    code = "E510"
    message_form = "the memory cannot be exported to {file}: {problem}"
    remedy_form = "Nothing was written there. Choose another place, or make room, and try again."


class ImportRefused(DatabaseError):
    """Damaged, cut off, foreign, or not what its manifest says; nothing was imported."""

    code = "E511"
    message_form = "{file} cannot be imported: {problem}"
    remedy_form = "Nothing was imported. Take the file as it was exported, or export the memory again."


class ImportTooNew(ImportRefused):
    code = "E512"
    message_form = "{file} was exported by a newer version ({found}); this one knows {known}"
    remedy_form = "Update memoir-engine, then import it."


class StoreNotEmpty(DatabaseError):
    code = "E513"
    message_form = "the memory at {url} is not empty"
    remedy_form = "Import into a database and a data_dir that hold nothing yet."
