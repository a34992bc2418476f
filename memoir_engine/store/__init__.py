"""The truth: every row, every transaction, the chain.

Packages import downwards only: tables < db < chain (writing and reading events) < ledger and checkpoints < sources < search
< conversations and tree < facts, review and ingestion < erase and events (the registry of kinds) < undo, verification < archive.
"""
