"""TODO memoir_engine.store.ledger."""
