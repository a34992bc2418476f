"""Errors of export and import (E51x). Source: API "The ledger and the audit"."""

from __future__ import annotations

from memoir_engine.errors.database import DatabaseError


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
