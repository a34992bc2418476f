"""TODO memoir_engine.store.review."""
