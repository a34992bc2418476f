"""The database: connections, units of work, column types, the schema."""
