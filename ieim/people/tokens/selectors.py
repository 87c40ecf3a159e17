"""Reads of tokens."""

from __future__ import annotations

from django.db.models import QuerySet

from ieim.people.models import Limits, Token, User
from ieim.people.tokens.scopes import permissions_of


def listed(user: User) -> QuerySet[Token]:
    """Return the tokens that a user may revoke, the newest first: their own, or those of everybody
    for a user who may delete tokens."""
    tokens = Token.objects.select_related("user")
    return tokens if user.has_perm("people.delete_token") else tokens.filter(user_id=user.pk)


def limits_of(token: Token) -> Limits:
    """Return the rights to which a token limits its owner."""
    return Limits(token.prefix, permissions_of(token.scopes), frozenset(token.agencies))


def acting(user: User, prefix: str) -> User:
    """Return a user with the limits of the token with a prefix, without limits for ``""``."""
    if prefix:
        user.limits = limits_of(Token.objects.get(prefix=prefix, user=user))
    return user
