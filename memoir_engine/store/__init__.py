"""The truth: every row, every transaction, the chain.

Packages import downwards only:
tables, db, migrations < chain (writing and reading events) < ledger < sources, tree, review, search, conversations, checkpoints,
facts < events (the registry of event kinds) < erase < undo, verification, archive.
"""
