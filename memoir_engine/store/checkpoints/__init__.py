"""TODO memoir_engine.store.checkpoints."""
