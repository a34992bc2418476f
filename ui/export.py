"""A run as JSON, for a file."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from memoir_engine import ErrorReport, QueryResult, RunDetail


def as_json(result: QueryResult, detail: RunDetail) -> str:
    """Serialise the answer with its evidence, and the ledger of its run."""
    return json.dumps({"result": _plain(result), "ledger": _plain(detail)}, ensure_ascii=False, indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, ErrorReport):
        return {"code": value.code, "message": value.message, "remedy": value.remedy, "retryable": value.retryable}
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value
