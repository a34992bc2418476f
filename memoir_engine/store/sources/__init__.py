"""Sources, their chunks and contextual helpers, and the commit of an ingestion."""
