"""Who may open which address: the one table, by the address's name.

``tests/review/test_access.py`` walks every address for every role and fails on one that is not
listed here. What a role may do to a single item also depends on the item: its agency, its claim.
"""

from __future__ import annotations

from collections.abc import Mapping

from review.roles import Role

EVERYBODY = "everybody"
"""Citizens: no login."""
BEARER = "bearer"
"""Integrators: a session's bearer token, no login."""
STAFF = frozenset(Role)
"""Whoever has logged in, whatever their role."""
BY_PERMISSION = frozenset(Role)
"""Staff; which pages is for Django's own permissions to say."""

SEES = frozenset({Role.CASEWORKER, Role.SUPERVISOR, Role.AUDITOR})
DECIDES = frozenset({Role.CASEWORKER, Role.SUPERVISOR})
SUPERVISES = frozenset({Role.SUPERVISOR})
MEASURES = frozenset({Role.SUPERVISOR, Role.AUDITOR, Role.ADMINISTRATOR})

Who = frozenset[Role] | str

ACCESS: Mapping[str, Who] = {
    "conversations:chat": EVERYBODY,
    "conversations:ask": EVERYBODY,
    "conversations:start_again": EVERYBODY,
    "conversations:resume": EVERYBODY,
    "conversations:delete": EVERYBODY,
    "conversations:help": EVERYBODY,
    "conversations:accessibility": EVERYBODY,
    "conversations:privacy": EVERYBODY,
    "api:docs": EVERYBODY,
    "api:schema": EVERYBODY,
    "api:sessions": EVERYBODY,
    "api:session": BEARER,
    "api:turns": BEARER,
    "api:turn": BEARER,
    "login": EVERYBODY,
    "logout": EVERYBODY,
    "staff_home": STAFF,
    "review:queue": SEES,
    "review:queue_changes": SEES,
    "review:save_view": SEES,
    "review:item": SEES,
    "review:golden": DECIDES,
    "review:metrics": MEASURES,
    "review:metrics_csv": MEASURES,
    "review:bulk": DECIDES,
    "review:claim": DECIDES,
    "review:renew": DECIDES,
    "review:release": DECIDES,
    "review:take_over": SUPERVISES,
    "review:preview": DECIDES,
    "review:decide": DECIDES,
    "review:check": DECIDES,
    "review:services": DECIDES,
    "review:sign": DECIDES,
    "review:undo": DECIDES,
    "review_api:items": SEES,
    "review_api:item": SEES,
    "review_api:claim": DECIDES,
    "review_api:release": DECIDES,
    "review_api:decide": DECIDES,
}
PREFIXES: Mapping[str, Who] = {"admin:": BY_PERMISSION}
"""The same for whole families of addresses."""


def who_may(name: str) -> Who | None:
    """Return who may open the address called ``name``, None for one that nobody listed."""
    for prefix, who in PREFIXES.items():
        if name.startswith(prefix):
            return who
    return ACCESS.get(name)
