"""The ledger: runs, model calls, decisions."""
