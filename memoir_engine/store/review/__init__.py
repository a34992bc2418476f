"""Review of filings: items, verdicts and sign-offs."""
