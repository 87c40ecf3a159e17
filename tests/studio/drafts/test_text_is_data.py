"""What an editor writes is shown as it was written, wherever it is shown: it is never markup."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from conversations.models import Turn
from conversations.turns import services
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.publishing import publish
from ieim.studio.models import Agency, Change, Service
from review.models import ReviewItem
from tests.fixtures import VISA, Ask
from tests.review.desk import Scripted, run, unsure
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, said

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.fixture
def evil(published: None, ask: Ask) -> Service:
    """The service that answers a question, with markup in every text."""
    used = ask().reply.body["sources"][0]
    service = Service.objects.get(agency=used["agency_id"], key=used["service_key"])
    eve = person("eve", Role.EDITOR)
    texts = {name: f"{getattr(service, name)} {EVIL}" for name in ("name", "overview", "fees")}
    editing.save(
        table="services",
        values={
            "agency": service.agency_id,
            "key": service.key,
            "requirements": [EVIL],
            "how_to_apply": [EVIL],
            "contact": EVIL,
            **texts,
        },
        by=eve,
        expected_version=service.version,
        source=Change.Source.ADMIN,
    )
    agency = Agency.objects.get(pk=service.agency_id)
    editing.save(
        table="agencies",
        values={"id": agency.pk, "name": f"{agency.name} {EVIL}"},
        by=eve,
        expected_version=agency.version,
        source=Change.Source.ADMIN,
    )
    publish(note=EVIL, by=eve)
    service.refresh_from_db()
    return service


def test_it_escapes_the_index_on_the_citizens_page(evil: Service) -> None:
    client = Client()
    client.get("/")
    client.post("/ask/", {"text": VISA})
    run(Turn.objects.get(reply=None))
    page = said(client.get("/"))
    assert EVIL not in page
    assert page.count(ESCAPED) >= 4


def test_it_escapes_the_index_in_the_console(evil: Service) -> None:
    turn = services.receive(session=services.new_secret(), text=VISA, enqueue=False)[0]
    run(turn, Scripted({"service_select_v1": [unsure, unsure]}))
    item = ReviewItem.objects.get()
    client = browser(person("sofia", Role.SUPERVISOR))
    client.post(reverse("review:claim", args=[item.pk]))
    page = said(client.get(reverse("review:item", args=[item.pk])))
    assert EVIL not in page
    assert ESCAPED in page


def test_it_escapes_the_index_where_it_is_edited(evil: Service, admin_client: Client) -> None:
    pages = [f"{reverse('dictionary:home')}?agency={evil.agency_id}"]
    for model, row, identity in (
        ("service", evil.pk, [evil.agency_id, evil.key]),
        ("agency", evil.agency_id, [evil.agency_id]),
    ):
        pages += [address(model, "changelist"), address(model, "history", row)]
        pages += [reverse(f"editor:{page}{model}", args=identity) for page in ("", "delete_")]
    for url in pages:
        page = said(admin_client.get(url))
        assert EVIL not in page, url
        assert ESCAPED in page, url
