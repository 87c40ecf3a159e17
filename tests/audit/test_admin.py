from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.models import AuditCheckpoint, AuditEvent
from ieim.people.models import User

LIST = "admin:audit_auditevent_changelist"


@pytest.fixture
def root(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


def shown(client: Client, **query: str) -> list[AuditEvent]:
    response = client.get(reverse(LIST), query)
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def test_it_lists_events_newest_first(root: Client, chain: UUID) -> None:
    *_, login = events = shown(root)
    assert [event.seq for event in events] == [5, 4, 3, 2, 1, 1]
    assert login.kind == "people.logged_in"


@pytest.mark.parametrize("form", ["{}", " {} ", "{{{}}}"])
def test_it_finds_a_chain_by_its_id(
    root: Client, chain: UUID, other_chain: UUID, form: str
) -> None:
    assert {event.chain for event in shown(root, q=form.format(other_chain))} == {other_chain}
    assert shown(root, q=str(chain)[:8]) == []
    assert shown(root, q="x'") == []


def test_it_filters_by_kind(root: Client, chain: UUID) -> None:
    take_checkpoint()
    assert [event.kind for event in shown(root, kind="audit.checkpoint")] == ["audit.checkpoint"]


@pytest.mark.parametrize("model", [AuditEvent, AuditCheckpoint])
def test_it_is_read_only_even_for_superusers(
    root: Client, chain: UUID, model: type[AuditEvent | AuditCheckpoint]
) -> None:
    take_checkpoint()
    row = model.objects.first()
    assert row is not None
    name = f"admin:audit_{model._meta.model_name}"
    page = reverse(f"{name}_change", args=[row.pk])

    assert root.get(page).status_code == 200
    assert root.post(page, {"actor": "staff:eve"}).status_code == 403
    assert root.get(reverse(f"{name}_add")).status_code == 403
    assert root.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    assert model.objects.filter(pk=row.pk).exists()


def test_it_is_closed_to_staff_without_the_permission(client: Client, chain: UUID) -> None:
    client.force_login(User.objects.create_user("eva", is_staff=True))
    assert client.get(reverse(LIST)).status_code == 403


def test_it_neither_counts_nor_reads_all_events(root: Client, chain: UUID) -> None:
    with CaptureQueriesContext(connection) as made:
        assert root.get(reverse(LIST)).status_code == 200
    events = [e["sql"] for e in made.captured_queries if '"audit_auditevent"' in e["sql"]]
    counted, _page = events
    assert "LIMIT 10000" in counted


def test_it_offers_every_kind(root: Client, chain: UUID) -> None:
    take_checkpoint()
    (kinds,) = root.get(reverse(LIST)).context["cl"].filter_specs
    kinds_there = sorted(set(AuditEvent.objects.values_list("kind", flat=True)))
    assert [kind for kind, _ in kinds.lookup_choices] == kinds_there
