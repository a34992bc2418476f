"""Review: the queues of what a person may decide, verdicts, edits of the tree, signatures and undo."""
