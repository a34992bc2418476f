"""Alembic's environment: always online, always on the connection it is handed.

Source: Alembic's cookbook, "sharing a connection".
"""

from __future__ import annotations

from alembic import context

from memoir_engine.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=context.config.attributes["connection"].dialect.name in ("sqlite", "postgresql"),
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
