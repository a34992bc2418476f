"""TODO memoir_engine.store.sources."""
