"""The truth: every row, every transaction, the chain.

Packages import downwards: db and tables < chain (writing and reading events) < ledger < the families (sources, tree, review,
search, conversations, checkpoints, facts) < events (the registry of event kinds) < undo, verification < archive.
Families import one another; erase is above them.
"""
