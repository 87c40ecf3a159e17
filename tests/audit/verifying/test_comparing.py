"""Comparing rows beside a live system, and in constant memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoAssertNumQueries

from conversations.models import Turn
from conversations.record.audited import BOTH
from conversations.turns import erasing, flags, running, services
from ieim.audit import comparing
from ieim.audit.canonical import Row
from ieim.audit.services import record
from tests.audit.owner import triggers_lifted
from tests.fixtures import VISA, Ask
from tests.review.conftest import make_turn

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


def test_it_says_that_rows_without_digests_are_not_vouched_for(db: None) -> None:
    # As an event of a time before messages were vouched for.
    turn = make_turn()
    with transaction.atomic():
        record(chain=turn.session_id, kind="turn.received", payload={}, actor="citizen")
    found = comparing.second_look(turn.session_id)
    assert [(each.kind, each.id, each.fault) for each in found] == [
        ("turn_text", str(turn.pk), "unvouched")
    ]
    assert "is not vouched for" in found[0].message


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
    said = json.loads(out.getvalue())
    assert said["chains"] == 152
    assert said["rows"] > turn.stages.count()


@pytest.mark.django_db
def test_signs_may_change_on_both_sides_of_an_upgrade() -> None:
    turn = make_turn()

    def vouch(*rows: Row) -> None:
        with transaction.atomic():
            record(chain=turn.session_id, kind="turn.x", payload={}, actor="system", rows=rows)

    vouch(BOTH.row(turn))  # by the version before
    flag = {"label": "violence", "confidence": 0.9, "source": "model"}
    found = {"risk_flags": [{**flag, "spans": [{"start": 0, "end": 1}]}], "disagreements": []}
    flags.add(turn=turn, classified=found)
    assert comparing.second_look(turn.session_id) == []
    turn.risks = []
    Turn.objects.filter(pk=turn.pk).update(risks=[])
    vouch(BOTH.row(turn))  # and by it again, while processes are replaced
    assert comparing.second_look(turn.session_id) == []
    with triggers_lifted():
        Turn.objects.filter(pk=turn.pk).update(text="I never asked")
    turn.text = "I never asked"
    vouch(BOTH.row(turn))
    assert [each.kind for each in comparing.second_look(turn.session_id)] == ["turn_text"]
