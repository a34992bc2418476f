"""TODO memoir_engine.store.search."""
