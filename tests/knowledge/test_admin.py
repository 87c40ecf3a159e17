"""The draft in Django's admin, and what can only be looked at."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ieim.knowledge.bundle import Bundle
from ieim.knowledge.models import Category, Release, Service
from ieim.knowledge.services import import_bundle, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(bundle: Bundle) -> Release:
    import_bundle(bundle=bundle, by=None)
    return publish(note="First", by=None)


def form_of(service: Service) -> dict[str, Any]:
    return {
        "agency": service.agency_id,
        "key": service.key,
        "name": service.name,
        "categories": '["travel"]',
        "requirements": "[]",
        "how_to_apply": "[]",
        "position": "0",
    }


@pytest.mark.parametrize(
    "model", ["agency", "category", "service", "label", "release", "publication"]
)
def test_it_lists_and_finds_every_model(
    admin_client: Client, published: Release, model: str
) -> None:
    address = reverse(f"admin:knowledge_{model}_changelist")
    assert admin_client.get(address).status_code == 200
    assert admin_client.get(address, {"q": "passport"}).status_code == 200


def test_it_saves_a_service(admin_client: Client, published: Release) -> None:
    service = Service.objects.get(key="renew")
    address = reverse("admin:knowledge_service_change", args=[service.pk])
    assert admin_client.get(address).status_code == 200
    form = {**form_of(service), "fees": "90 crowns", "requirements": ""}
    assert admin_client.post(address, form).status_code == 302
    service.refresh_from_db()
    assert (service.fees, service.requirements, service.categories) == ("90 crowns", [], ["travel"])


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("url", "javascript:alert(1)", "it must begin with http"),
        ("requirements", '"text"', "requirements must be a list of texts"),
        ("requirements", '{"a": 1}', "requirements must be a list of texts, this is an object"),
        ("requirements", "[1]", "requirements entry 1 must be text, this is a number"),
        ("categories", '["income"]', "not in the agency&#x27;s dictionary: income"),
    ],
)
def test_it_holds_a_service_to_the_rules_of_a_bundle(
    admin_client: Client, published: Release, column: str, value: str, expected: str
) -> None:
    service = Service.objects.get(key="renew")
    address = reverse("admin:knowledge_service_change", args=[service.pk])
    page = admin_client.post(address, {**form_of(service), column: value})
    assert page.status_code == 200
    assert expected in page.content.decode()


def test_it_does_not_change_the_id_of_an_agency(admin_client: Client, published: Release) -> None:
    address = reverse("admin:knowledge_agency_change", args=["tax"])
    admin_client.post(address, {"id": "other", "name": "Renamed", "position": "1"})
    assert not Category.objects.filter(agency="other").exists()
    assert Category.objects.get(key="income").agency.name == "Renamed"


@pytest.mark.parametrize("model", ["release", "publication"])
def test_it_only_shows_what_is_published(
    admin_client: Client, published: Release, model: str
) -> None:
    name = f"admin:knowledge_{model}"
    row = published.pk if model == "release" else published.publications.get().pk
    page = admin_client.get(reverse(f"{name}_change", args=[row]))
    assert page.status_code == 200
    assert "Save" not in page.content.decode()
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"{name}_delete", args=[row])).status_code == 403
