"""What a browser shows of the citizen's pages while it has no connection."""
