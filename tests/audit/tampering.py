# ruff: noqa: S608 - the names put into statements are our own tables'
"""Ways to tamper with what is stored, as a database's owner can, at any position.

Each takes the number of a position (a deletion: the row's key) and returns the kind and the id of
what was tampered with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.db import connection
from django.db.models import ForeignKey, ForeignObjectRel, Model

from conversations.models import Turn
from ieim.people import factors
from ieim.people.models import User

POSITIONS = 20
Tampered = tuple[str, str]


def rows(query: str, *params: Any) -> list[tuple[Any, ...]]:
    """What a statement returns, as the database holds it."""
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return list(cursor.fetchall())


def do(statement: str, *params: Any) -> None:
    """Run a statement that must hit one row at least."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        assert cursor.rowcount, statement


def at(position: int, table: str, where: str = "1 = 1", columns: str = "id") -> tuple[Any, ...]:
    """One of the rows of a table: a different one for each position."""
    result = rows(f"SELECT {columns} FROM {table} WHERE {where} ORDER BY id")
    assert len(result) >= POSITIONS, (table, len(result))
    return result[position * len(result) // POSITIONS]


def name(value: Any) -> str:
    """An id as it is reported: SQLite has UUIDs without hyphens."""
    return str(UUID(value)) if isinstance(value, str) else str(value)


def flipped(data: Any, position: int) -> bytes:
    """Bytes with one of them changed."""
    changed = bytearray(bytes(data) or b"\0")
    changed[position * len(changed) // POSITIONS] ^= 1
    return bytes(changed)


def _changed_json(table: str, column: str, where: str, change: Callable[[Any, int], Any]) -> Any:
    def tamper(position: int) -> Any:
        key, text = at(position, table, where, f"id, CAST({column} AS text)")
        value = json.dumps(change(json.loads(text), position))
        do(f"UPDATE {table} SET {column} = %s WHERE id = %s", value, key)
        return key

    return tamper


def change_text(position: int) -> Tampered:
    key, text = at(position, "conversations_turn", "text <> ''", "id, text")
    offset = position * len(text) // POSITIONS
    other = text[:offset] + ("x" if text[offset] != "x" else "y") + text[offset + 1 :]
    do("UPDATE conversations_turn SET text = %s WHERE id = %s", other, key)
    return "turn_text", name(key)


def delete_turn(key: Any) -> Tampered:
    _delete_whole(Turn, "id", [key])
    return "turn_text", name(key)


def _delete_whole(model: type[Model], column: str, keys: list[Any]) -> None:
    """Delete rows with whatever refers to them, and whatever refers to that."""
    table, within = model._meta.db_table, ", ".join(["%s"] * len(keys))
    primary = model._meta.pk.column
    results = [result for (result,) in rows(_SELECT.format(primary, table, column, within), *keys)]
    if not results:
        return
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            referring = cast("ForeignKey[Any, Any]", relation.field)
            _delete_whole(referring.model, referring.column, results)
    within = ", ".join(["%s"] * len(results))
    do(f"DELETE FROM {table} WHERE {primary} IN ({within})", *results)


_SELECT = "SELECT {} FROM {} WHERE {} IN ({})"


def change_answer(position: int) -> Tampered:
    key, raw = at(position, "conversations_attempt", columns="id, raw")
    do("UPDATE conversations_attempt SET raw = %s WHERE id = %s", flipped(raw, position), key)
    return "attempt", name(key)


def change_question(position: int) -> Tampered:
    key, result = at(position, "conversations_attempt", columns="id, asked")
    do("UPDATE conversations_attempt SET asked = %s WHERE id = %s", flipped(result, position), key)
    return "attempt", name(key)


def clear_findings(position: int) -> Tampered:
    (key,) = at(position, "conversations_attempt", "CAST(findings AS text) <> '[]'")
    do("UPDATE conversations_attempt SET findings = '[]' WHERE id = %s", key)
    return "attempt", name(key)


def delete_attempt(key: Any) -> Tampered:
    do("DELETE FROM conversations_attempt WHERE id = %s", key)
    return "attempt", name(key)


def add_attempt(position: int) -> Tampered:
    described = connection.introspection.get_table_description(
        connection.cursor(), "conversations_attempt"
    )
    columns = [column.name for column in described if column.name != "id"]
    values = ", ".join("number + 50" if column == "number" else column for column in columns)
    (key,) = at(position, "conversations_attempt", "number < 50")
    do(
        f"INSERT INTO conversations_attempt ({', '.join(columns)}) "
        f"SELECT {values} FROM conversations_attempt WHERE id = %s",
        key,
    )
    return "attempt", name(rows("SELECT max(id) FROM conversations_attempt")[0][0])


def move_span(position: int) -> Tampered:
    (key,) = at(position, "conversations_evidencespan")
    do('UPDATE conversations_evidencespan SET "end" = "end" + 1 WHERE id = %s', key)
    return "span", name(key)


def delete_span(key: Any) -> Tampered:
    do("DELETE FROM conversations_evidencespan WHERE id = %s", key)
    return "span", name(key)


def change_stage(position: int) -> Tampered:
    def other(answer: dict[str, Any], position: int) -> dict[str, Any]:
        return {**answer, "response_id": f"forged-{position}"}

    where = "output IS NOT NULL AND result IS NULL"
    return "stage", name(_changed_json("conversations_stage", "output", where, other)(position))


def change_triage(position: int) -> Tampered:
    def other(result: dict[str, Any], position: int) -> dict[str, Any]:
        return {**result, "forged": position}

    where = "result IS NOT NULL AND CAST(result AS text) <> 'null'"
    return "stage", name(_changed_json("conversations_stage", "result", where, other)(position))


def change_reply(position: int) -> Tampered:
    def other(body: dict[str, Any], position: int) -> dict[str, Any]:
        return {**body, "title": f"Forged {position}"}

    return "reply", name(_changed_json("conversations_reply", "body", "1 = 1", other)(position))


def change_decision(position: int) -> Tampered:
    (key,) = at(position, "review_decision")
    column = ("reason", "action")[position % 2]
    do(f"UPDATE review_decision SET {column} = 'forged' WHERE id = %s", key)
    return "decision", name(key)


def delete_decision(key: Any) -> Tampered:
    do("DELETE FROM review_decision WHERE id = %s", key)
    return "decision", name(key)


CHANGES = (
    *(change_text, change_answer, change_question, clear_findings, move_span, change_stage),
    *(change_triage, change_reply, change_decision),
)
DELETIONS = (
    (delete_turn, "conversations_turn", "text <> ''"),
    (delete_attempt, "conversations_attempt", "1 = 1"),
    (delete_span, "conversations_evidencespan", "1 = 1"),
    (delete_decision, "review_decision", "action = 'agree'"),
)
"""With the rows that each of them can delete."""
ADDITIONS = (add_attempt,)

_OF_EVA = "(SELECT id FROM people_user WHERE username = 'eva')"
_COPY_OF_TOKEN = (
    "INSERT INTO people_token (id, user_id, name, prefix, sha256, scopes, agencies, created_at, "
    "expires_at) SELECT '00000000000040008000000000000009', user_id, name, 'ieim_forged', "
    "'forged', scopes, agencies, created_at, expires_at FROM people_token"
)
_SESSION = "WHERE substr(secret_sha256, 1, 7) <> 'erased:'"
STAFF: dict[str, tuple[tuple[str, ...], str, str]] = {
    "made a superuser": (
        ("UPDATE people_user SET is_superuser = TRUE WHERE username = 'eva'",),
        *("account", "changed"),
    ),
    "another's password": (
        (
            "UPDATE people_user SET password = (SELECT password FROM people_user "
            "WHERE username = 'zoe') WHERE username = 'eva'",
        ),
        *("account", "changed"),
    ),
    "one agency more": (
        (f"INSERT INTO people_agencyscope (user_id, agency) VALUES ({_OF_EVA}, 'forged')",),
        *("account", "changed"),
    ),
    "one role more": (
        (
            "INSERT INTO people_user_groups (user_id, group_id) SELECT "
            f"{_OF_EVA}, id FROM auth_group WHERE name = 'administrator'",
        ),
        *("account", "changed"),
    ),
    "one permission more": (
        (
            "INSERT INTO people_user_user_permissions (user_id, permission_id) SELECT "
            f"{_OF_EVA}, id FROM auth_permission WHERE codename = 'delete_user'",
        ),
        *("account", "changed"),
    ),
    "an identity at the provider": (
        (
            "INSERT INTO socialaccount_socialaccount (user_id, provider, uid, extra_data, "
            f"last_login, date_joined) VALUES ({_OF_EVA}, 'openid', 'forged', '{{}}', "
            "CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)",
        ),
        *("account", "changed"),
    ),
    "an account that nobody made": (
        (
            "INSERT INTO people_user (username, password, first_name, last_name, email, is_active, "
            "is_staff, is_superuser, date_joined) SELECT 'mallory', password, first_name, "
            "last_name, email, TRUE, TRUE, TRUE, date_joined FROM people_user "
            "WHERE username = 'eva'",
        ),
        *("account", "unvouched"),
    ),
    "an account that is gone": (
        (
            "DELETE FROM people_user_groups WHERE user_id = (SELECT id FROM people_user "
            "WHERE username = 'gone')",
            "DELETE FROM people_agencyscope WHERE user_id = (SELECT id FROM people_user "
            "WHERE username = 'gone')",
            "DELETE FROM people_user WHERE username = 'gone'",
        ),
        *("account", "missing"),
    ),
    "a role that may more": (
        (
            "INSERT INTO auth_group_permissions (group_id, permission_id) SELECT g.id, p.id "
            "FROM auth_group g, auth_permission p "
            "WHERE g.name = 'caseworker' AND p.codename = 'delete_user'",
        ),
        *("role", "changed"),
    ),
    "a role that nobody made": (
        ("INSERT INTO auth_group (name) VALUES ('forged')",),
        *("role", "unvouched"),
    ),
    "a factor that is gone": (("DELETE FROM mfa_authenticator",), "factor", "missing"),
    "another secret of a factor": (
        ('UPDATE mfa_authenticator SET data = \'{"secret": "forged"}\'',),
        *("factor", "changed"),
    ),
    "a factor that nobody set up": (
        (
            "INSERT INTO mfa_authenticator (user_id, type, data, created_at) SELECT "
            f"{_OF_EVA}, 'webauthn', data, created_at FROM mfa_authenticator",
        ),
        *("factor", "unvouched"),
    ),
    "a token for every agency": (
        ("UPDATE people_token SET agencies = '[\"*\"]'",),
        *("token", "changed"),
    ),
    "a token that nobody made": ((_COPY_OF_TOKEN,), "token", "unvouched"),
    "a token that is gone": (("DELETE FROM people_token",), "token", "missing"),
    "a link to another's conversation": (
        (f"UPDATE conversations_session SET link_sha256 = 'forged' {_SESSION}",),
        *("session", "changed"),
    ),
    "another service that is near": (
        (
            "UPDATE knowledge_vector SET value = (SELECT value FROM knowledge_vector "
            "ORDER BY id DESC LIMIT 1) WHERE id = (SELECT min(id) FROM knowledge_vector)",
        ),
        *("vector", "changed"),
    ),
    "a vector that nobody made": (
        (
            "INSERT INTO knowledge_vector (embedder, sha256, value) SELECT embedder, 'forged', "
            "value FROM knowledge_vector WHERE id = (SELECT min(id) FROM knowledge_vector)",
        ),
        *("vector", "unvouched"),
    ),
    "a set that another agency is in": (
        ("UPDATE review_setmember SET agency = agency || 'x'",),
        *("agency_set", "changed"),
    ),
}
"""By what is done: the statements, the kind of the rows, and what is wrong with them then."""


def exchange_codes_of(name: str, *, by: str) -> None:
    """Put somebody else's recovery codes, encrypted as they are, in the place of a user's."""
    for entry in (name, by):
        RecoveryCodes.activate(User.objects.get(username=entry))
    do(
        "UPDATE mfa_authenticator SET data = (SELECT data FROM mfa_authenticator WHERE type = "
        "'recovery_codes' AND user_id = (SELECT id FROM people_user WHERE username = %s)) "
        "WHERE type = 'recovery_codes' AND "
        "user_id = (SELECT id FROM people_user WHERE username = %s)",
        *(by, name),
    )


def _use_a_code(user: User) -> None:
    codes = RecoveryCodes(Authenticator.objects.get(user=user))
    assert codes.validate_code(codes.get_unused_codes()[0])


FACTOR_AFTER: dict[str, Callable[[User], object]] = {
    "used": _use_a_code,
    "removed": lambda user: factors.remove(user, by=user),
}
"""What is honestly done with a second factor that was exchanged."""
