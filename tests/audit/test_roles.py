"""Roles of PostgreSQL: what a command grants is what each needs, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from ieim.audit import roles
from ieim.audit.services import record
from tests.audit.sealing import Sealer

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

OWNER, APPLICATION, AUDIT = "test-owner", "test-application", 'test-"audit"'
HIDDEN = "REVOKE ALL ON SCHEMA public FROM PUBLIC"


def sql(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(autouse=True)
def _roles() -> None:
    """Three roles and their tables. A cluster's roles outlive a database: the test's transaction
    takes them back."""
    database = connection.settings_dict["NAME"]
    sql(
        *(f"CREATE ROLE {quoted(entry)}" for entry in (OWNER, APPLICATION, AUDIT)),
        f"ALTER DATABASE {quoted(database)} OWNER TO {quoted(OWNER)}",
        f"ALTER SCHEMA public OWNER TO {quoted(OWNER)}",
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE "{table}" OWNER TO {quoted(OWNER)}')


@contextmanager
def being(role: str) -> Iterator[None]:
    """Be another role for as long as the block runs."""
    sql(f"SET LOCAL ROLE {quoted(role)}")
    yield
    sql("RESET ROLE")


def granted() -> str:
    out = StringIO()
    with being(OWNER):
        call_command("grant_roles", APPLICATION, AUDIT, stdout=out)
    return out.getvalue()


def refused(statement: str) -> bool:
    try:
        with transaction.atomic():
            sql(statement)
    except ProgrammingError as error:
        return "permission denied" in str(error) or "must be owner" in str(error)
    return False


def rights() -> list[Any]:
    """Every right of every role on every table, column and sequence."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, relacl::text FROM pg_class UNION ALL "
            "SELECT concat(attrelid, '.', attnum), attacl::text FROM pg_attribute ORDER BY 1, 2"
        )
        return list(cursor.fetchall())


def happen() -> None:
    with transaction.atomic():
        record(chain=uuid4(), kind="a.b", payload={}, actor="system")


def test_the_application_writes_rows_and_cannot_undo_the_record() -> None:
    assert "nor take a trigger off" in granted()
    with being(APPLICATION):
        happen()
        sql("UPDATE conversations_turn SET state = state")
        for attack in (
            "ALTER TABLE audit_auditevent DISABLE TRIGGER ALL",
            "ALTER TABLE conversations_reply ADD own text",
            "TRUNCATE conversations_reply",
            "DROP TABLE audit_auditevent",
            "CREATE TABLE own ()",
            "DELETE FROM audit_auditevent",
            "UPDATE audit_auditcheckpoint SET number = 7",
            "DELETE FROM audit_audithead",
            # Else the next release's guards would count as made.
            "INSERT INTO django_migrations (app, name, applied) VALUES ('audit', '9', now())",
            "DELETE FROM django_migrations",
            "UPDATE auth_permission SET codename = 'a'",
            "UPDATE django_content_type SET model = 'a'",
            "SET session_replication_role = replica",
        ):
            assert refused(attack), attack
        assert roles.undoing() == []


def test_the_audit_role_seals_records_and_writes_nothing_else(tmp_path: Path) -> None:
    granted()
    happen()
    sealer = Sealer(tmp_path)
    with being(AUDIT):
        sealer.seal()
        assert sealer.verify(record=True) == ""
        assert refused("UPDATE conversations_turn SET state = 'closed'")
        assert refused("UPDATE audit_audithead SET seq = seq + 1, key = ''")
        # What pg_dump reads.
        sql("SELECT last_value FROM people_user_id_seq")


def test_a_second_time_changes_nothing_and_what_was_too_much_goes() -> None:
    granted()
    before = rights()
    sql(
        f"GRANT TRUNCATE, TRIGGER ON audit_auditevent TO {quoted(APPLICATION)}",
        "GRANT SELECT ON conversations_turn TO PUBLIC",
        f"GRANT UPDATE ON conversations_turn TO {quoted(AUDIT)}",
        f"GRANT UPDATE (key) ON audit_audithead TO {quoted(AUDIT)}",
    )
    granted()
    assert rights() == before


def test_tables_of_a_later_migration_can_be_used_at_once() -> None:
    granted()
    with being(OWNER):
        sql("CREATE TABLE later (id serial)")
    with being(APPLICATION):
        sql("INSERT INTO later DEFAULT VALUES")
    with being(AUDIT):
        sql("SELECT * FROM later")
        assert refused("INSERT INTO later DEFAULT VALUES")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda: sql(f"ALTER ROLE {quoted(APPLICATION)} SUPERUSER"), "is a superuser"),
        (lambda: sql(f"ALTER ROLE {quoted(APPLICATION)} CREATEROLE"), "CREATEROLE"),
        (lambda: sql(f"GRANT {quoted(OWNER)} TO {quoted(APPLICATION)}"), "owns tables, first"),
        (lambda: sql("CREATE TABLE other ()"), "Let one role own them"),
        (lambda: sql("ALTER SCHEMA public OWNER TO CURRENT_USER", HIDDEN), "ALTER SCHEMA"),
        (lambda: sql(f"ALTER ROLE {quoted(AUDIT)} RENAME TO another"), "CREATE ROLE"),
    ],
)
def test_it_says_what_is_in_the_way_and_changes_nothing(
    spoil: Callable[[], None], says: str
) -> None:
    spoil()
    before = rights()
    with pytest.raises(CommandError, match=says), transaction.atomic():
        granted()
    assert rights() == before


def test_an_owner_is_no_role_for_the_application() -> None:
    with pytest.raises(CommandError, match="owns the tables"):
        call_command("grant_roles", OWNER, AUDIT)
