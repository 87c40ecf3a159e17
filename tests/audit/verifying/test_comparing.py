"""Comparing rows beside a live system, and in constant memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from conversations.record.audited import SIGNS, TEXT
from conversations.turns import erasing, running, services
from ieim.audit import comparing
from ieim.audit.audited import VOUCHED_FROM
from ieim.audit.models import PEOPLE_CHAIN, VECTORS_CHAIN, AuditEvent
from ieim.audit.services import record
from ieim.audit.verify import Break, verify
from ieim.knowledge.models import Vector
from ieim.people.audited import ACCOUNT
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.services import changing
from tests.audit.tampering import do, rows
from tests.fixtures import VISA, Ask
from tests.review.conftest import make_turn
from tests.review.people import person

pytestmark = pytest.mark.both_databases


@pytest.mark.django_db(transaction=True)
def test_it_reports_nothing_while_others_write(
    published: None, in_threads: Callable[..., list[object]]
) -> None:
    def write() -> None:
        for number in range(6):
            turn = services.receive(session=f"s{number}", text=VISA, enqueue=False)[0]
            running.run_turn(turn_id=turn.pk)
            if number % 2:
                erasing.erase_session(session_id=turn.session_id)

    def look() -> None:
        for _ in range(8):
            call_command("verify_audit", stdout=StringIO())

    in_threads([write, look])


@pytest.mark.django_db(transaction=True)
def test_writers_wait_for_no_more_than_what_is_suspected(
    in_threads: Callable[..., list[object]],
) -> None:
    ada, ben, eva = (person(name, Role.CASEWORKER, "taxes") for name in ("ada", "ben", "eva"))
    do("UPDATE people_user SET is_superuser = TRUE WHERE username = 'ada'")

    def change() -> None:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                do("SET LOCAL lock_timeout = '2s'")
            with changing(ben.pk, by=None):
                User.objects.filter(pk=ben.pk).update(first_name="B")

    changed: list[object] = []
    accounts: list[Any] = []

    def meanwhile(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        done = execute(sql, params, *rest)
        if "prev_hash" in sql and not changed:  # the chain is being read
            changed.extend(in_threads([change]))
        if 'FROM "people_user"' in sql and "ORDER BY" in sql:
            accounts.append(params)
        return done

    with connection.execute_wrapper(meanwhile):
        result = comparing.second_look(PEOPLE_CHAIN)
    assert changed
    # What changed with an event meanwhile is no fault, and who was not suspected is not read again.
    assert [entry.id for entry in result] == [str(ada.pk)]
    assert [set(params) for params in accounts] == [set(), {ada.pk, ben.pk}]
    assert eva.pk not in accounts[-1]


def test_it_says_that_rows_without_digests_are_not_vouched_for(db: None) -> None:
    # As an event of a time before messages were vouched for.
    turn = make_turn()
    with transaction.atomic():
        record(chain=turn.session_id, kind="turn.received", payload={}, actor="citizen")
    result = comparing.second_look(turn.session_id)
    assert [(entry.kind, entry.id, entry.fault) for entry in result] == [
        ("turn_text", str(turn.pk), "unvouched")
    ]
    assert "is not vouched for" in result[0].message


def test_no_honest_change_hides_one_that_no_event_tells_of(db: None) -> None:
    ada, ben = (person(name, Role.CASEWORKER, "taxes") for name in ("ada", "ben"))
    do("UPDATE people_user SET is_superuser = TRUE WHERE username = 'ada'")
    with changing(ada.pk, ben.pk, by=None):
        User.objects.filter(pk__in=[ada.pk, ben.pk]).update(first_name="A")
    problem = verify(PEOPLE_CHAIN).problem
    assert problem
    assert problem.code is Break.CHANGED_BEFORE
    assert f"changed account {ada.pk}, which was not then as the record had it" in problem.message
    # The event about ben names no row any more: ada's has named both.
    do("UPDATE people_user SET is_superuser = TRUE WHERE username = 'ben'")
    assert [entry.id for entry in comparing.second_look(PEOPLE_CHAIN)] == [str(ben.pk)]


def test_what_was_there_before_is_vouched_for_once(published: None) -> None:
    """As at the end of ``migrate`` on a database of a version that did not vouch for it."""
    Vector.objects.create(embedder="e", sha256="a", value=b"x")
    turn, erased = make_turn(), make_turn("Another one")
    for entry in (turn, erased):
        rows = [TEXT.row(entry), SIGNS.row(entry)]
        chain = entry.session_id
        with transaction.atomic():
            record(chain=chain, kind="turn.received", payload={}, actor="citizen", rows=rows)
    erasing.erase_session(session_id=erased.session_id)
    user = User.objects.create_user("ada")
    for _ in range(2):
        call_command("migrate", verbosity=0)
    joined = AuditEvent.objects.filter(kind=VOUCHED_FROM)
    chains = {turn.session_id, PEOPLE_CHAIN, VECTORS_CHAIN}
    assert sorted(joined.values_list("chain", flat=True)) == sorted(chains)
    for chain in (PEOPLE_CHAIN, VECTORS_CHAIN):
        assert comparing.second_look(chain) == []
    do("UPDATE conversations_session SET link_sha256 = 'forged' WHERE link_sha256 = ''")
    assert verify(turn.session_id).ok
    result = comparing.second_look(turn.session_id)
    assert [(entry.kind, entry.fault, entry.event) for entry in result] == [
        ("session", "changed", 2)
    ]
    # Another such event does not make an account one of before.
    User.objects.filter(pk=user.pk).update(is_superuser=True)
    rows = [ACCOUNT.row(ACCOUNT.rows().get(pk=user.pk))]
    with transaction.atomic():
        record(chain=PEOPLE_CHAIN, kind=VOUCHED_FROM, payload={}, actor="system", rows=rows)
    problem = verify(PEOPLE_CHAIN).problem
    assert problem
    assert problem.code is Break.SECOND_DIGEST


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_migrate_and_a_running_turn_do_not_wait_for_each_other() -> None:
    turn = make_turn()
    with transaction.atomic():
        record(chain=turn.session_id, kind="turn.received", payload={}, actor="citizen")

    def migrate() -> None:
        try:
            call_command("migrate", verbosity=0)
        finally:
            connection.close()

    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            # Written twice, a turn has its session looked up once more at the commit.
            turn.save()
            turn.save()
            record(chain=turn.session_id, kind="turn.x", payload={}, actor="system")
            migrating = pool.submit(migrate)
            while not rows("SELECT 1 FROM pg_locks WHERE NOT granted"):
                assert not migrating.done(), "it did not wait for the chain"
        migrating.result()
    assert AuditEvent.objects.filter(chain=turn.session_id, kind=VOUCHED_FROM).count() == 1


def test_it_compares_many_chains_in_a_few_queries(
    ask: Ask, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    turn = ask(VISA)
    for _ in range(150):
        with transaction.atomic():
            record(chain=uuid4(), kind="a.b", payload={}, actor="system")
    out = StringIO()
    with django_assert_max_num_queries(60):
        call_command("verify_audit", "--json", stdout=out)
    data = json.loads(out.getvalue())
    assert data["chains"] == 152
    assert data["rows"] > turn.stages.count()
