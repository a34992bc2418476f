"""TODO memoir_engine.store.chain."""
