"""The category tree: current and past, its history, edits and filings."""
