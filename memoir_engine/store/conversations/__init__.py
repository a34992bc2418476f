"""TODO memoir_engine.store.conversations."""
