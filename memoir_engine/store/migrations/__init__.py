"""Alembic's scripts, run by `memoir_engine.store.db.schema`."""
