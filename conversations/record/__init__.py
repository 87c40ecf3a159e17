"""Records of model calls, replay, and the rows that the audit and the database protect."""
