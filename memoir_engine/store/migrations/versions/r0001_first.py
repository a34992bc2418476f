"""The first schema: sources, tree, ledger, chain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from memoir_engine.store.tables.columns import TABLE, LongBytes, LongText, UTCDateTime, key

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_COUNTERS = ("category", "chunk", "decision", "helper", "model_call", "source", "tree")
_NUMBERS = ("id", "seq", "value")
_HEAD = {"id": 1, "seq": 0, "hash": "0" * 64, "at": "1970-01-01T00:00:00.000000Z"}


def upgrade() -> None:
    op.create_table(
        "action",
        sa.Column("id", key(26), nullable=False),
        sa.Column("verb", key(40), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("at", key(27), nullable=False),
        sa.Column("run_id", key(26), nullable=True),
        sa.Column("undoes", key(26), nullable=True),
        sa.Column("payload", key(64), nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_action")),
        **TABLE,
    )
    op.create_index(op.f("ix_action_run_id"), "action", ["run_id"], unique=False)
    op.create_index(op.f("ix_action_undoes"), "action", ["undoes"], unique=False)
    op.create_table(
        "audit_event",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", key(27), nullable=False),
        sa.Column("action_id", key(26), nullable=False),
        sa.Column("kind", key(40), nullable=False),
        sa.Column("body", LongText, nullable=False),
        sa.Column("payload", key(64), nullable=True),
        sa.Column("prev_hash", key(64), nullable=False),
        sa.Column("hash", key(64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit_event")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_audit_event_prev_hash")),
        **TABLE,
    )
    op.create_index(op.f("ix_audit_event_action_id"), "audit_event", ["action_id"], unique=False)
    op.create_index(op.f("ix_audit_event_at"), "audit_event", ["at"], unique=False)
    op.create_index(op.f("ix_audit_event_kind_seq"), "audit_event", ["kind", "seq"], unique=False)
    op.create_table(
        "audit_head",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", key(64), nullable=False),
        sa.Column("at", key(27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
        **TABLE,
    )
    op.create_table(
        "category",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("created_seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_category")),
        **TABLE,
    )
    op.create_table(
        "counter",
        sa.Column("name", key(40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counter")),
        **TABLE,
    )
    op.create_table(
        "lease",
        sa.Column("name", key(40), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=True),
        sa.Column("heartbeat_at", UTCDateTime, nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lease")),
        **TABLE,
    )
    op.create_table(
        "payload",
        sa.Column("digest", key(64), nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("body", LongText, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_payload")),
        **TABLE,
    )
    op.create_table(
        "profile",
        sa.Column("category_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("tokenizer", sa.String(length=100), nullable=False),
        sa.Column("body", LongBytes, nullable=False),
        sa.PrimaryKeyConstraint("category_id", name=op.f("pk_profile")),
        **TABLE,
    )
    op.create_table(
        "run",
        sa.Column("id", key(26), nullable=False),
        sa.Column("verb", key(40), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=True),
        sa.Column("status", key(20), nullable=False),
        sa.Column("started_at", UTCDateTime, nullable=False),
        sa.Column("ended_at", UTCDateTime, nullable=True),
        sa.Column("heartbeat_at", UTCDateTime, nullable=True),
        sa.Column("owner", sa.String(length=200), nullable=True),
        sa.Column("subject", key(64), nullable=True),
        sa.Column("tree_seq", sa.BigInteger(), nullable=True),
        sa.Column("request", key(64), nullable=False),
        sa.Column("result", LongText, nullable=False),
        sa.Column("error", LongText, nullable=True),
        sa.Column("remedy", LongText, nullable=True),
        sa.Column("committed_seq", sa.BigInteger(), nullable=True),
        sa.Column("closed_seq", sa.BigInteger(), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        **TABLE,
    )
    op.create_index(op.f("ix_run_started_at"), "run", ["started_at"], unique=False)
    op.create_index(op.f("ix_run_status_heartbeat_at"), "run", ["status", "heartbeat_at"], unique=False)
    op.create_table(
        "run_event",
        sa.Column("run_id", key(26), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", UTCDateTime, nullable=False),
        sa.Column("kind", key(40), nullable=False),
        sa.Column("body", LongText, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "n", name=op.f("pk_run_event")),
        **TABLE,
    )
    op.create_table(
        "setting",
        sa.Column("name", key(40), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_setting")),
        **TABLE,
    )
    op.create_table(
        "source",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("kind", key(20), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("text_sha256", key(64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", key(20), nullable=False),
        sa.Column("status_seq", sa.BigInteger(), nullable=False),
        sa.Column("chars", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("title", LongText, nullable=True),
        sa.Column("author", LongText, nullable=True),
        sa.Column("dated", sa.String(length=100), nullable=True),
        sa.Column("headings", LongText, nullable=False),
        sa.Column("pages", LongText, nullable=False),
        sa.Column("metadata", LongText, nullable=False),
        sa.Column("doc_id", sa.String(length=200), nullable=True),
        sa.Column("owner", sa.String(length=200), nullable=True),
        sa.Column("created_at", UTCDateTime, nullable=False),
        sa.Column("run_id", key(26), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_source")),
        **TABLE,
    )
    op.create_index(op.f("ix_source_name"), "source", ["name"], unique=False)
    op.create_index(op.f("ix_source_sha256"), "source", ["sha256"], unique=False)
    op.create_table(
        "category_version",
        sa.Column("category_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.BigInteger(), nullable=True),
        sa.Column("parent_key", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("name_key", key(64), nullable=False),
        sa.Column("merged_into", sa.BigInteger(), nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["category_id"], ["category.id"], name=op.f("fk_category_version_category_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["category.id"], name=op.f("fk_category_version_parent_id")),
        sa.PrimaryKeyConstraint("category_id", "from_seq", name=op.f("pk_category_version")),
        sa.UniqueConstraint("parent_key", "name_key", "to_seq", name=op.f("uq_category_version_parent_key_name_key_to_seq")),
        **TABLE,
    )
    op.create_index(op.f("ix_category_version_parent_id_to_seq"), "category_version", ["parent_id", "to_seq"], unique=False)
    op.create_table(
        "chunk",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", UTCDateTime, nullable=False),
        sa.Column("text", LongText, nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name=op.f("fk_chunk_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk")),
        sa.UniqueConstraint("source_id", "position", name=op.f("uq_chunk_source_id_position")),
        **TABLE,
    )
    op.create_table(
        "contextual_helper",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("origin", key(20), nullable=False),
        sa.Column("text", LongText, nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("author", LongText, nullable=True),
        sa.Column("dated", LongText, nullable=True),
        sa.Column("topic", LongText, nullable=True),
        sa.Column("created_at", UTCDateTime, nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name=op.f("fk_contextual_helper_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contextual_helper")),
        sa.UniqueConstraint("source_id", "version", name=op.f("uq_contextual_helper_source_id_version")),
        **TABLE,
    )
    op.create_table(
        "decision",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("run_id", key(26), nullable=False),
        sa.Column("call_id", sa.BigInteger(), nullable=True),
        sa.Column("chunk_id", sa.BigInteger(), nullable=True),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.BigInteger(), nullable=False),
        sa.Column("offer", key(64), nullable=False),
        sa.Column("chosen", LongText, nullable=False),
        sa.Column("opinions", LongText, nullable=False),
        sa.Column("decided_by", key(20), nullable=False),
        sa.Column("seen", sa.SmallInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("note", LongText, nullable=True),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_decision_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
        **TABLE,
    )
    op.create_index(op.f("ix_decision_chunk_id"), "decision", ["chunk_id"], unique=False)
    op.create_index(op.f("ix_decision_run_id_id"), "decision", ["run_id", "id"], unique=False)
    op.create_table(
        "model_call",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("run_id", key(26), nullable=False),
        sa.Column("subject", key(64), nullable=True),
        sa.Column("purpose", key(40), nullable=False),
        sa.Column("prompt_version", key(40), nullable=False),
        sa.Column("fingerprint", key(64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("provider", sa.String(length=100), nullable=False),
        sa.Column("output_mode", key(20), nullable=False),
        sa.Column("params", LongText, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_at", UTCDateTime, nullable=False),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("tokens_prompt", sa.Integer(), nullable=False),
        sa.Column("tokens_completion", sa.Integer(), nullable=False),
        sa.Column("tokens_estimated", sa.SmallInteger(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("error", LongText, nullable=True),
        sa.Column("reused_from", sa.BigInteger(), nullable=True),
        sa.Column("payload", key(64), nullable=False),
        sa.Column("salt", key(32), nullable=False),
        sa.Column("digest", key(64), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_model_call_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_call")),
        **TABLE,
    )
    op.create_index(op.f("ix_model_call_fingerprint_subject"), "model_call", ["fingerprint", "subject"], unique=False)
    op.create_index(op.f("ix_model_call_run_id_id"), "model_call", ["run_id", "id"], unique=False)
    op.create_table(
        "source_file",
        sa.Column("source_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("bytes", LongBytes, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name=op.f("fk_source_file_source_id")),
        sa.PrimaryKeyConstraint("source_id", "part", name=op.f("pk_source_file")),
        **TABLE,
    )
    op.create_table(
        "source_text",
        sa.Column("source_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", LongText, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["source.id"], name=op.f("fk_source_text_source_id")),
        sa.PrimaryKeyConstraint("source_id", "part", name=op.f("pk_source_text")),
        **TABLE,
    )
    op.create_table(
        "filing",
        sa.Column("chunk_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("category_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UTCDateTime, nullable=False),
        sa.Column("decision_id", sa.BigInteger(), nullable=True),
        sa.Column("reviewed_by", sa.String(length=200), nullable=True),
        sa.Column("reviewed_seq", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["category_id"], ["category.id"], name=op.f("fk_filing_category_id")),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name=op.f("fk_filing_chunk_id")),
        sa.PrimaryKeyConstraint("chunk_id", "from_seq", name=op.f("pk_filing")),
        sa.UniqueConstraint("chunk_id", "to_seq", name=op.f("uq_filing_chunk_id_to_seq")),
        **TABLE,
    )
    op.create_index(op.f("ix_filing_from_seq"), "filing", ["from_seq"], unique=False)
    op.create_index("ix_filing_page", "filing", ["category_id", "to_seq", "created_at", "chunk_id"], unique=False)
    op.create_index(op.f("ix_filing_to_seq"), "filing", ["to_seq"], unique=False)
    op.bulk_insert(_rows_of("counter", "name", "value"), [{"name": one, "value": 0} for one in _COUNTERS])
    op.bulk_insert(_rows_of("lease", "name"), [{"name": "planner"}])
    op.bulk_insert(_rows_of("audit_head", *_HEAD), [_HEAD])


def _rows_of(table: str, *columns: str) -> sa.TableClause:
    return sa.table(table, *(sa.column(one, sa.Integer() if one in _NUMBERS else sa.String()) for one in columns))
