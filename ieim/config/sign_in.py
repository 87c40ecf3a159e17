"""How staff sign in, as the environment says it: settings of :mod:`ieim.people`.

Nothing here raises; see :mod:`ieim.config.environment`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ieim.config.env import Env
from ieim.people.roles import Role


def openid(env: Env, *, production: bool) -> dict[str, Any]:
    """Read the OpenID provider of the staff.

    ``ISSUER`` is empty where there is none. ``GROUPS`` maps a group of the provider to the
    ``roles`` and ``agencies`` that it gives.
    """
    issuer = env.text("IEIM_OPENID_ISSUER").rstrip("/")
    schemes = ["https"] if production else ["https", "http"]
    if issuer and (urlsplit(issuer).scheme not in schemes or not urlsplit(issuer).hostname):
        example = "https://login.example.org/realms/city"
        env.problem("IEIM_OPENID_ISSUER", f"is {issuer!r}. Set it to an address such as {example}.")
    hint = "Set it to what the provider of IEIM_OPENID_ISSUER calls this site."
    client = env.required("IEIM_OPENID_CLIENT_ID", hint, when=bool(issuer))
    hint = "Set it to the secret that the provider of IEIM_OPENID_ISSUER has given this site."
    secret = env.required("IEIM_OPENID_CLIENT_SECRET", hint, when=bool(issuer))
    return {
        "ISSUER": issuer,
        "CLIENT_ID": client,
        "CLIENT_SECRET": secret,
        "NAME": env.text("IEIM_OPENID_NAME", "single sign-on"),
        "SCOPES": env.names("IEIM_OPENID_SCOPES", ["openid", "profile", "email"]),
        "GROUPS_CLAIM": env.text("IEIM_OPENID_GROUPS_CLAIM", "groups"),
        "GROUPS": _groups(env, required=bool(issuer)),
    }


def passwords(env: Env, *, issuer: str) -> bool:
    """Whether staff sign in with a password, too."""
    allowed = env.flag("IEIM_PASSWORDS", default=True)
    if not allowed and not issuer:
        env.problem(
            "IEIM_PASSWORDS",
            "is false, and there is no other way in. Set IEIM_OPENID_ISSUER, or leave it out.",
        )
    return allowed


def mfa_roles(env: Env, *, production: bool) -> list[str]:
    """The roles that need a second factor; superusers need one with them. ``none`` is nobody."""
    known = [role.value for role in Role]
    strong = [Role.ADMINISTRATOR.value, Role.PUBLISHER.value, Role.SUPERVISOR.value]
    roles = env.names("IEIM_MFA_ROLES", strong if production else ())
    if roles == ["none"]:
        return []
    if unknown := sorted(set(roles) - set(known)):
        what = f"has no role of ours: {', '.join(unknown)}. The roles are: {', '.join(known)}."
        env.problem("IEIM_MFA_ROLES", what)
    return roles


def _groups(env: Env, *, required: bool) -> dict[str, dict[str, frozenset[str]]]:
    name, known = "IEIM_OPENID_GROUPS", [role.value for role in Role]
    hint = 'Set it to an object such as {"desk": {"roles": ["caseworker"], "agencies": ["tax"]}}.'
    table = env.table(name)
    if required and not table:
        env.problem(name, f"is not set, so that nobody from the provider could come in. {hint}")
    found: dict[str, dict[str, frozenset[str]]] = {}
    for group, given in table.items():
        lists = dict(given) if isinstance(given, dict) else {"": given}
        parts = {part: lists.pop(part, []) for part in ("roles", "agencies")}
        if lists or not all(_are_texts(part) for part in parts.values()):
            env.problem(name, f"has something else than roles and agencies for {group!r}. {hint}")
            continue
        if unknown := sorted(set(parts["roles"]) - set(known)):
            of = f"{', '.join(unknown)} for {group!r}"
            env.problem(name, f"has no role of ours: {of}. The roles are: {', '.join(known)}.")
        found[group] = {part: frozenset(values) for part, values in parts.items()}
    return found


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)
