"""The audit trail in words, reports to keep, the overview, and the export of a whole memory."""
