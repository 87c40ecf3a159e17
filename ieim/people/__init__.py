"""Staff: accounts, roles, agency scopes, signing in, and who may open what."""
