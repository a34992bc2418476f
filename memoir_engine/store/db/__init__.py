"""TODO memoir_engine.store.db."""
