"""What was given to an ingestion, and how to go on with it in another process.

Invariant: `Upload.again(upload.kept())` is the same upload.
Source: MEMOIR 6.2, 2B.7; issue "Resume".
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from memoir_engine.errors import InvalidSetting

if TYPE_CHECKING:
    from memoir_engine.files import Document
    from memoir_engine.store.inputs import Kept


@dataclass(frozen=True)
class Said:
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
    helper: Said | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    replaces: int | None = None
    regenerate: bool = False

    @classmethod
    def of(
        cls,
        verb: str,
        data: bytes,
        name: str,
        helper: str | None,
        metadata: dict[str, Any] | None,
        *,
        max_mb: int,
        replaces: int | None = None,
        regenerate: bool = False,
    ) -> Upload:
        """As a caller gives it. Raises InvalidSetting for metadata that are not JSON."""
        said = None if helper is None else Said(helper)
        return cls(verb, name, data, max_mb, said, _checked(metadata or {}), replaces, regenerate)

    @classmethod
    def again(cls, kept: Kept, *, max_mb: int) -> Upload:
        """As an earlier run kept it."""
        how = dict(kept.how)
        said = how.pop("helper")
        return cls(data=kept.data, max_mb=max_mb, helper=None if said is None else Said(**said), **how)

    def kept(self) -> Kept:
        from memoir_engine.store.inputs import Kept

        helper = None if self.helper is None else asdict(self.helper)
        how = {"verb": self.verb, "name": self.name, "helper": helper, "metadata": self.metadata}
        return Kept(how | {"replaces": self.replaces, "regenerate": self.regenerate}, self.data)

    def read(self) -> Document:
        from memoir_engine import files

        if self.verb == "ingest_text":
            return files.read_text(self.data.decode("utf-8", "surrogatepass"), self.name, max_mb=self.max_mb)
        return files.read(self.data, self.name, max_mb=self.max_mb)


def _checked(metadata: dict[str, Any]) -> dict[str, Any]:
    try:
        json.dumps(metadata, allow_nan=False)
    except (TypeError, ValueError) as not_json:
        advice = "Use texts, numbers, lists and dictionaries with texts as keys."
        raise InvalidSetting(name="metadata", value=metadata, problem=str(not_json), advice=advice) from not_json
    return dict(metadata)
