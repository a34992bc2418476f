"""What was given to an ingestion, and how to go on with it in another process.

Invariant: `Upload.again(upload.kept())` is the same upload.
Source: MEMOIR 6.2, 2B.7, 7.9.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from memoir_engine import readers
from memoir_engine.core import validation
from memoir_engine.readers import Document
from memoir_engine.store.ledger.run_end import Kept

UNNAMED = "text"


@dataclass(frozen=True)
class UserHelper:
    """A contextual helper as a person gave it, with the fields it was composed from where there are any."""

    text: str
    author: str | None = None
    dated: str | None = None
    topic: str | None = None


@dataclass(frozen=True)
class Upload:
    """verb: ingest_text (data is the UTF-8 of a text) or ingest_file. replaces: the source of which this is a newer version.

    regenerate: draw the helper anew although a generated one is stored.
    """

    verb: str
    name: str
    data: bytes
    max_mb: int
    helper: UserHelper | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    replaces: int | None = None
    regenerate: bool = False

    @classmethod
    def of(
        cls,
        verb: str,
        content: object,
        name: object,
        helper: object,
        metadata: object,
        *,
        max_mb: int,
        replaces: object = None,
        regenerate: object = False,
    ) -> Upload:
        """As a caller gives it. Raises InvalidSetting for what is of another type, and for metadata that are not JSON.

        content: a text for ingest_text, bytes for ingest_file. A text without a name is called "text".
        """
        is_text = verb == "ingest_text"
        called = validation.raw_text("name", name)
        return cls(
            verb,
            UNNAMED if is_text and not called.strip() else called,
            validation.raw_text("text", content).encode("utf-8", "surrogatepass")
            if is_text
            else validation.raw_bytes("data", content),
            max_mb,
            None if helper is None else UserHelper(validation.raw_text("contextual_helper", helper)),
            {} if metadata is None else validation.metadata(metadata),
            None if replaces is None else validation.number("replaces", replaces),
            validation.flag("regenerate", regenerate),
        )

    @classmethod
    def again(cls, kept: Kept, *, max_mb: int) -> Upload:
        """As an earlier run kept it."""
        how = dict(kept.how)
        said = how.pop("helper")
        return cls(data=kept.data, max_mb=max_mb, helper=None if said is None else UserHelper(**said), **how)

    def kept(self) -> Kept:
        helper = None if self.helper is None else asdict(self.helper)
        how = {"verb": self.verb, "name": self.name, "helper": helper, "metadata": self.metadata}
        return Kept(how | {"replaces": self.replaces, "regenerate": self.regenerate}, self.data)

    @property
    def shown_name(self) -> str:
        """As it can be written down whatever it is, for the run that tells what is wrong with it."""
        return self.name.encode("utf-8", "replace").decode()

    def read(self) -> Document:
        if self.verb == "ingest_text":
            return readers.read_text(self.data.decode("utf-8", "surrogatepass"), self.name, max_mb=self.max_mb)
        return readers.read(self.data, self.name, max_mb=self.max_mb)
