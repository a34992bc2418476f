"""Places outside the database that hold heads of the audit log, and the signatures under them."""
