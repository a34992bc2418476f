"""Search by words and vectors, knowledge under a doc_id, and summaries."""
