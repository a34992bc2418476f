"""Errors of pages that are fetched by their address.

Source: issue 18 (more sources); docs/decisions/0138.
"""

from __future__ import annotations

from memoir_engine.core.errors.features import IngestionError


class AddressNotAllowed(IngestionError):
    """The settings do not allow a page to be fetched from there, or it is no address of a page."""

    code = "E525"
    message_form = "{address!r} may not be fetched: {problem}"
    remedy_form = (
        "Save the page as a file and add that. Or have the host named in web_hosts by whoever runs this memory; one that is not"
        " on the open Internet has to be named there, with its port. Nothing was stored."
    )


class PageUnreachable(IngestionError):
    code = "E526"
    message_form = "{address!r} could not be fetched: {problem}"
    remedy_form = "Open the address in a browser to see whether it is right, and try again later. Nothing was stored."


class PageTypeUnknown(IngestionError):
    code = "E527"
    message_form = "{address!r} is {kind}, which cannot be read"
    remedy_form = "Give the address of a page, a text, a PDF, an Office file, a book or an e-mail. Nothing was stored."
