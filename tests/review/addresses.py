"""Which role opens which address: written down by hand, beside the table that the site goes by.

:mod:`ieim.people.access` says which permission an address takes, and
:mod:`ieim.people.roles` who has it; what comes of both is compared with this.
"""

from __future__ import annotations

from collections.abc import Mapping

from ieim.people.roles import Role

EVERYBODY = "everybody"
"""Citizens: no login."""
BEARER = "bearer"
"""Integrators: a session's bearer token, no login."""
STAFF = frozenset(Role)
"""Whoever has logged in, whatever their role."""

SEES = frozenset({Role.CASEWORKER, Role.SUPERVISOR, Role.AUDITOR})
DECIDES = frozenset({Role.CASEWORKER, Role.SUPERVISOR})
SUPERVISES = frozenset({Role.SUPERVISOR})
AUDITS = frozenset({Role.AUDITOR})
EDITS = frozenset({Role.EDITOR})
PUBLISHES = frozenset({Role.PUBLISHER})
KNOWS = EDITS | PUBLISHES
"""Who reads the draft, the releases and the proposals."""
HAS_TOKENS = frozenset({Role.SUPERVISOR, Role.EDITOR, Role.PUBLISHER})
MEASURES = frozenset({Role.SUPERVISOR, Role.AUDITOR, Role.ADMINISTRATOR})

Who = frozenset[Role] | str

_TABLES = (
    *("agencies", "dictionary", "services", "labels", "translations"),
    *("help_lines", "risk_examples", "texts", "situations", "questions"),
)
"""The tables of the draft, as REST calls them."""

ACCESS: Mapping[str, Who] = {
    "conversations:chat": EVERYBODY,
    "conversations:ask": EVERYBODY,
    "conversations:rate": EVERYBODY,
    "conversations:tick": EVERYBODY,
    "conversations:choose": EVERYBODY,
    "conversations:something_else": EVERYBODY,
    "conversations:safe": EVERYBODY,
    "conversations:start_again": EVERYBODY,
    "conversations:resume": EVERYBODY,
    "conversations:export": EVERYBODY,
    "conversations:export_json": EVERYBODY,
    "conversations:private_link": EVERYBODY,
    "conversations:delete": EVERYBODY,
    "conversations:help": EVERYBODY,
    "conversations:accessibility": EVERYBODY,
    "conversations:privacy": EVERYBODY,
    "conversations:offline": EVERYBODY,
    "conversations:worker": EVERYBODY,
    "conversations:person": EVERYBODY,
    "conversations:person_withdraw": EVERYBODY,
    "conversations:mail": EVERYBODY,
    "conversations:mail_stop": EVERYBODY,
    "conversations:mail_link": EVERYBODY,
    "conversations:mail_link_stop": EVERYBODY,
    "conversations:language": EVERYBODY,
    "api:docs": EVERYBODY,
    "api:schema": EVERYBODY,
    "api:sessions": EVERYBODY,
    "api:session": BEARER,
    "api:export": BEARER,
    "api:export_html": BEARER,
    "api:turns": BEARER,
    "api:turn": BEARER,
    "api:rating": BEARER,
    "api:checklist": BEARER,
    "api:choice": BEARER,
    "api:something_else": BEARER,
    "api:safe": BEARER,
    "api:person": BEARER,
    "api:mail": BEARER,
    "login": EVERYBODY,
    "account_login": EVERYBODY,
    "openid_begin": EVERYBODY,
    "openid_callback": EVERYBODY,
    "openid_logout": EVERYBODY,
    "logout": EVERYBODY,
    "account_logout": EVERYBODY,
    "mfa_authenticate": EVERYBODY,
    "password_reset": EVERYBODY,
    "password_reset_done": EVERYBODY,
    "password_reset_confirm": EVERYBODY,
    "account_reauthenticate": STAFF,
    **{
        f"mfa_{name}": STAFF
        for name in (
            *("index", "reauthenticate", "reauthenticate_webauthn"),
            *("activate_totp", "deactivate_totp"),
            *("list_webauthn", "add_webauthn", "edit_webauthn", "remove_webauthn"),
            *("view_recovery_codes", "generate_recovery_codes", "download_recovery_codes"),
        )
    },
    "staff_home": STAFF,
    "sessions": STAFF,
    "tokens:tokens": HAS_TOKENS | frozenset({Role.ADMINISTRATOR}),
    "tokens:make": HAS_TOKENS,
    "tokens:revoke": HAS_TOKENS | frozenset({Role.ADMINISTRATOR}),
    "review:queue": SEES,
    "review:queue_changes": SEES,
    "review:save_view": SEES,
    "review:item": SEES,
    "review:golden": DECIDES,
    "review:feedback": SEES,
    "review:feedback_item": DECIDES,
    "review:metrics": MEASURES,
    "review:metrics_csv": MEASURES,
    "review:bulk": DECIDES,
    "review:claim": DECIDES,
    "review:held": DECIDES,
    "review:renew": DECIDES,
    "review:release": DECIDES,
    "review:take_over": SUPERVISES,
    "review:preview": DECIDES,
    "review:decide": DECIDES,
    "review:check": DECIDES,
    "review:services": DECIDES,
    "review:sign": DECIDES,
    "review:undo": DECIDES,
    "review:talk": DECIDES,
    "review:talk_begin": DECIDES,
    "review:talk_say": DECIDES,
    "review:talk_end": DECIDES,
    "framing:script": EVERYBODY,
    "published:services": EVERYBODY,
    "published:service": EVERYBODY,
    "administration_api:administration": EVERYBODY,
    "administration:colours": EVERYBODY,
    "administration:logo": EVERYBODY,
    "administration:security": EVERYBODY,
    **{
        f"administration:{name}": frozenset({Role.ADMINISTRATOR})
        for name in ("settings", "save", "preview", "preview_colours")
    },
    "standards:upload": EDITS,
    "standards:preview": EDITS,
    "knowledge:home": KNOWS,
    "knowledge:checks": KNOWS,
    "knowledge:check_again": KNOWS,
    "knowledge:checks_summary": KNOWS,
    "knowledge:services": KNOWS,
    "knowledge:draft_service": KNOWS,
    "knowledge:differences": KNOWS,
    "knowledge:releases": KNOWS,
    "knowledge:release": KNOWS,
    "knowledge:service": KNOWS,
    "knowledge:again": EDITS,
    "knowledge:propose": EDITS,
    "knowledge:proposal": KNOWS,
    "knowledge:publish": PUBLISHES,
    "knowledge:refuse": PUBLISHES,
    "knowledge:withdraw": EDITS,
    "trying:playground": KNOWS,
    "trying:golden": KNOWS,
    "trying:start": KNOWS,
    "trying:questions": EDITS,
    "trying:question_add": EDITS,
    "trying:question_remove": EDITS,
    "recall:home": EDITS,
    "recall:references": EDITS,
    "recall:correct": EDITS,
    "recall:resume": EDITS,
    "notices:notices": KNOWS,
    "notices:add": EDITS,
    "notices:end": EDITS,
    **{
        f"knowledge_api:{name}{one}": who
        for name in _TABLES
        for one, who in (("", KNOWS), ("_entry", EDITS), ("_file", KNOWS))
    },
    "knowledge_api:standards_file": EDITS,
    "knowledge_api:releases": KNOWS,
    "knowledge_api:release": KNOWS,
    "knowledge_api:proposals": KNOWS,
    "knowledge_api:proposal": KNOWS,
    **{f"knowledge_api:{name}": EDITS for name in ("versions", "answers", "end_notice")},
    **{f"knowledge_api:{name}": KNOWS for name in ("golden_run", "try", "notices")},
    "knowledge_api:publish": PUBLISHES,
    "knowledge_api:refuse": PUBLISHES,
    "knowledge_api:withdraw": EDITS,
    **dict.fromkeys(("audit:events", "audit:chain", "audit:download"), AUDITS),
    "review_api:items": SEES,
    "review_api:item": SEES,
    "review_api:claim": DECIDES,
    "review_api:release": DECIDES,
    "review_api:decide": DECIDES,
    "review_api:talk": DECIDES,
    "review_api:messages": DECIDES,
}
CHANGES: Mapping[str, Who] = {
    "knowledge_api:notices": EDITS,
    "knowledge_api:proposals": EDITS,
    **{f"knowledge_api:{name}_file": EDITS for name in _TABLES},
}
"""Who may change something at an address that more people may read."""
_READS = ("GET", "HEAD", "OPTIONS")

ADMIN_SITE: Mapping[str, Who] = {
    **dict.fromkeys(("login", "logout"), EVERYBODY),
    **dict.fromkeys(("index", "password_change", "password_change_done", "jsi18n"), STAFF),
    "app_list": KNOWS | frozenset({Role.ADMINISTRATOR}),
    "autocomplete": frozenset({Role.ADMINISTRATOR}),
}
_READ, _CHANGE, _ALL = "v", "vc", "vcad"
ADMIN: Mapping[str, Mapping[Role, str]] = {
    "people_user": {Role.ADMINISTRATOR: _ALL},
    "auth_group": {Role.ADMINISTRATOR: _READ},
    "people_agencyscope": {Role.ADMINISTRATOR: _ALL},
    "studio_agency": {Role.EDITOR: _CHANGE, Role.PUBLISHER: _READ},
    **{
        f"studio_{name}": {Role.EDITOR: _ALL, Role.PUBLISHER: _READ}
        for name in ("category", "service", "translation", "examplequestion")
    },
    "studio_label": {},
    "studio_helpline": {},
    "studio_riskexample": {},
    "studio_casetext": {},
    "studio_situation": {},
    **{
        f"knowledge_{name}": {Role.EDITOR: _READ, Role.PUBLISHER: _READ}
        for name in ("release", "publication")
    },
    "studio_goldenquestion": {},
}
"""What somebody of one agency views, changes, adds and deletes in the admin, by model. Agencies are
for people of every agency to add; labels, help lines, examples, texts
and situations also to change."""


def who_may(name: str, method: str = "GET") -> Who | None:
    """Return who may open the address called ``name``, None for one that nobody listed.

    Of the admin's addresses see :data:`ADMIN`.
    """
    if name.startswith("admin:"):
        return ADMIN_SITE.get(name.removeprefix("admin:"))
    if method not in _READS and name in CHANGES:
        return CHANGES[name]
    return ACCESS.get(name)
