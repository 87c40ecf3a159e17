"""Rights of the roles in PostgreSQL: the tables' owner, the application, and the audit role.

A table's owner can take its triggers off (:mod:`ieim.audit.triggers`). So the owner migrates and
runs nothing else; the application's role reads and writes rows, of the record it only adds some,
and only reads the tables that migrations write; the audit role reads everything, and adds
checkpoints and events.
"""

from __future__ import annotations

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from ieim.audit.models import AuditCheckpoint, AuditEvent, AuditHead, CheckpointHead

_ADDED_TO = tuple(model._meta.db_table for model in (AuditEvent, AuditCheckpoint, CheckpointHead))
_HEADS = AuditHead._meta.db_table
_MIGRATED = tuple(
    model._meta.db_table for model in (MigrationRecorder.Migration, ContentType, Permission)
)
"""Tables that migrations alone write: a guard whose migration is marked as applied is not made."""


class RolesError(Exception):
    """Roles cannot be granted what they need; the message says why and what to do."""


@transaction.atomic
def grant(application: str, audit: str) -> list[str]:
    """Give both roles exactly the rights that they need, on present and future tables.

    Other rights of theirs or of PUBLIC are revoked. Run it as the owner of the tables or as an
    administrator, after each migration. Returns a sentence for each role.

    Raises:
        RolesError: a role or a right is missing; nothing has changed.
    """
    database, schema, owner = _location()
    for role in (application, audit):
        if not _select("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
            hint = f'CREATE ROLE "{role}" LOGIN'
            raise RolesError(f"There is no role {role}. Let an administrator make it: {hint}")
        if role == owner:
            raise RolesError(
                f"{role} owns the tables, and an owner cannot be kept from anything. Let another "
                "role own them, and migrate as that: docs/installing.md, “The database”."
            )
    names = {
        "database": sql.Identifier(database),
        "schema": sql.Identifier(schema),
        "owner": sql.Identifier(owner),
        "app": sql.Identifier(application),
        "audit": sql.Identifier(audit),
        "added_to": sql.SQL(", ").join(map(sql.Identifier, _ADDED_TO)),
        "events": sql.Identifier(AuditEvent._meta.db_table),
        "heads": sql.Identifier(_HEADS),
        "migrated": sql.SQL(", ").join(map(sql.Identifier, _MIGRATED)),
    }
    with connection.cursor() as cursor:
        for statement in _STATEMENTS:
            cursor.execute(sql.SQL(statement).format(**names))
    problems = [f"{role} {problem}" for role in (application, audit) for problem in undoing(role)]
    # PostgreSQL only warns where somebody grants a right that is not theirs.
    (can_connect,) = _select(
        "SELECT has_database_privilege(%s, %s, 'CONNECT') "
        "AND has_schema_privilege(%s, %s, 'USAGE')",
        *(application, database, application, schema),
    )
    if not can_connect:
        problems.append(f"{application} cannot reach the schema {schema} of {database}")
    if problems:
        raise RolesError(
            f"Nothing was changed, because afterwards {'; '.join(problems)}. Run this as the owner "
            "of the database, and let an administrator take away what is too much."
        )
    return [
        f"{application} reads and writes rows, of the audit record it only adds some, and which "
        "migrations were applied it only reads; it owns no table and can neither alter nor empty "
        "one, nor take a trigger off.",
        f"{audit} reads everything, may add checkpoints and events to the audit record, and writes "
        "nothing else.",
    ]


_STATEMENTS = (
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC, {app}, {audit}",
    "GRANT CONNECT ON DATABASE {database} TO {app}, {audit}",
    "REVOKE ALL ON SCHEMA {schema} FROM PUBLIC, {app}, {audit}",
    "GRANT USAGE ON SCHEMA {schema} TO {app}, {audit}",
    "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC, {app}, {audit}",
    "REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM PUBLIC, {app}, {audit}",
    "GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {app}, {audit}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {app}",
    "REVOKE UPDATE, DELETE ON {added_to} FROM {app}",
    # An erasure empties these, when the trigger permits it.
    "GRANT UPDATE (at, payload, salt) ON {events} TO {app}",
    "REVOKE DELETE ON {heads} FROM {app}",
    "REVOKE INSERT, UPDATE, DELETE ON {migrated} FROM {app}",
    "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {audit}",
    "GRANT INSERT ON {added_to} TO {audit}",
    # Not the key: without it nobody can verify a conversation's rows.
    "GRANT INSERT, UPDATE (seq, hash) ON {heads} TO {audit}",
    # Of the tables of later migrations, so that a release that is being replaced can go on.
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} "
    "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} "
    "GRANT SELECT ON TABLES TO {audit}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} "
    "GRANT SELECT, USAGE ON SEQUENCES TO {app}, {audit}",
)


def undoing(role: str = "") -> list[str]:
    """Return the ways by which a role could get past the triggers, in words; empty for none.

    The default is the role of this connection. Roles of which it is a member count.
    """
    later = connection.pg_version >= 150000  # type: ignore[attr-defined]  # PostgreSQL's alone
    return [
        str(privilege) for privilege in _select(_UNDOING + (_REPLICA if later else ""), role, role)
    ]


# A superuser is a member of every role and has every privilege: that is reported once.
_UNDOING = """
WITH asked AS (
    SELECT oid, rolsuper, rolcreaterole FROM pg_roles
    WHERE rolname = CASE WHEN %s = '' THEN current_user ELSE %s END
), tables AS (
    SELECT c.oid, c.relname, c.relowner FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
)
SELECT 'is a superuser' FROM asked WHERE rolsuper
UNION ALL SELECT 'may give itself other roles (CREATEROLE)' FROM asked
    WHERE rolcreaterole AND NOT rolsuper
UNION ALL SELECT 'owns tables, first ' || min(relname) FROM asked, tables
    WHERE NOT rolsuper AND pg_has_role(asked.oid, relowner, 'MEMBER') HAVING count(*) > 0
UNION ALL SELECT 'can empty tables or give them triggers, first ' || min(relname) FROM asked, tables
    WHERE NOT rolsuper AND NOT pg_has_role(asked.oid, relowner, 'MEMBER')
    AND has_table_privilege(asked.oid, tables.oid, 'TRUNCATE, TRIGGER') HAVING count(*) > 0
UNION ALL SELECT 'can make objects of its own in the schema' FROM asked
    WHERE NOT rolsuper AND has_schema_privilege(asked.oid, current_schema(), 'CREATE')
"""
_REPLICA = """
UNION ALL SELECT 'can switch triggers off (session_replication_role)' FROM asked
    WHERE NOT rolsuper AND has_parameter_privilege(asked.oid, 'session_replication_role', 'SET')
"""


def _location() -> tuple[str, str, str]:
    """Return the database, the schema and the owner of its tables; raises :class:`RolesError`."""
    if connection.vendor != "postgresql":
        raise RolesError("This database has no roles: they are PostgreSQL's.")
    (schema,) = _select("SELECT current_schema()")
    if schema is None:
        raise RolesError(
            "The tables' owner cannot reach their schema. Let an administrator give it to it: "
            "ALTER SCHEMA public OWNER TO …"
        )
    owners = _select(
        "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
    )
    if not owners:
        raise RolesError("There are no tables yet. Run `manage.py migrate` first.")
    if len(owners) > 1:
        raise RolesError(
            f"The tables belong to {', '.join(map(str, owners))}. Let one role own them: "
            "ALTER TABLE … OWNER TO …"
        )
    return str(connection.settings_dict["NAME"]), str(schema), str(owners[0])


def _select(query: str, *values: str) -> list[object]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [row[0] for row in cursor.fetchall()]
