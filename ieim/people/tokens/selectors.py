"""Reads of tokens."""

from __future__ import annotations

from django.db.models import QuerySet

from ieim.people.models import Limits, Token, User
from ieim.people.tokens.scopes import permissions_of


def listed(user: User) -> QuerySet[Token]:
    """Return the tokens that a user sees and may revoke, the newest first: their own, and those of
    everybody where they may delete tokens."""
    tokens = Token.objects.select_related("user")
    return tokens if user.has_perm("people.delete_token") else tokens.filter(user_id=user.pk)


def limits_of(token: Token) -> Limits:
    """Return what a token leaves of its maker's rights."""
    return Limits(token.prefix, permissions_of(token.scopes), frozenset(token.agencies))


def acting(user: User, prefix: str) -> User:
    """Return somebody as they act through the token of a prefix; as they are without one."""
    if prefix:
        user.limits = limits_of(Token.objects.get(prefix=prefix, user=user))
    return user
