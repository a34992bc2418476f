"""TODO memoir_engine.store.tree."""
