"""Parts of signing in: stored sessions, reauthentication, stale forms, logouts of the provider."""
