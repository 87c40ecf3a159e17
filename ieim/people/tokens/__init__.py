"""Tokens of staff's programs: made and revoked on a page, looked at by REST."""
