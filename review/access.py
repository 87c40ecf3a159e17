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
EDITS = frozenset({Role.EDITOR})
MEASURES = frozenset({Role.SUPERVISOR, Role.AUDITOR, Role.ADMINISTRATOR})

Who = frozenset[Role] | str

ACCESS: Mapping[str, Who] = {
    "conversations:chat": EVERYBODY,
    "conversations:ask": EVERYBODY,
    "conversations:rate": EVERYBODY,
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
    "api:rating": BEARER,
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
    "published:services": EVERYBODY,
    "published:service": EVERYBODY,
    "standards:upload": EDITS,
    "standards:preview": EDITS,
    "knowledge:home": EDITS,
    "knowledge:checks": EDITS,
    "knowledge:check_again": EDITS,
    "knowledge:checks_summary": EDITS,
    "knowledge:services": EDITS,
    "knowledge:draft_service": EDITS,
    "knowledge:differences": EDITS,
    "knowledge:releases": EDITS,
    "knowledge:release": EDITS,
    "knowledge:service": EDITS,
    "knowledge:again": EDITS,
    "knowledge:propose": EDITS,
    "knowledge:proposal": EDITS,
    "knowledge:publish": EDITS,
    "knowledge:refuse": EDITS,
    "knowledge:withdraw": EDITS,
    "trying:playground": EDITS,
    "trying:golden": EDITS,
    "trying:start": EDITS,
    "trying:questions": EDITS,
    "trying:question_add": EDITS,
    "trying:question_remove": EDITS,
    "recall:home": EDITS,
    "recall:service": EDITS,
    "recall:references": EDITS,
    "recall:write": EDITS,
    "recall:send": EDITS,
    "recall:notice": EDITS,
    "notices:notices": EDITS,
    "notices:add": EDITS,
    "notices:end": EDITS,
    **{
        f"knowledge_api:{name}{one}": EDITS
        for name in ("agencies", "dictionary", "services", "labels", "translations")
        for one in ("", "_entry", "_file")
    },
    "knowledge_api:standards_file": EDITS,
    "knowledge_api:releases": EDITS,
    "knowledge_api:release": EDITS,
    "knowledge_api:proposals": EDITS,
    "knowledge_api:proposal": EDITS,
    **{
        f"knowledge_api:{name}": EDITS
        for name in ("golden_run", "try", "versions", "answers", "notices", "end_notice")
    },
    "knowledge_api:publish": EDITS,
    "knowledge_api:refuse": EDITS,
    "knowledge_api:withdraw": EDITS,
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
