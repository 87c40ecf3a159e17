"""The version is said in one place, and shown wherever somebody asks what runs."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from ieim.audit import services as audit
from ieim.audit.models import AuditEvent
from tests.checks import ROOT
from tests.fixtures import Ask

FOOTER = re.compile(r"<footer.*<li>IEIM ([^<]+)</li>.*</footer>", re.DOTALL)


def version() -> str:
    matches = re.findall(
        r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    assert len(matches) == 1
    return str(matches[0])


def test_the_image_has_the_file_that_says_it() -> None:
    assert version() == settings.IEIM_VERSION
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^COPY .*\bpyproject\.toml\b", dockerfile, re.MULTILINE)


@pytest.mark.django_db
def test_it_stands_at_the_foot_of_pages(client: Client) -> None:
    open_pages = [reverse("conversations:chat"), reverse("login")]
    client_of_staff = Client()
    client_of_staff.force_login(get_user_model().objects.create_superuser("root"))
    staff_pages = [reverse("review:queue"), reverse("knowledge:home")]
    for browser, paths in ((client, open_pages), (client_of_staff, staff_pages)):
        for path in paths:
            assert FOOTER.findall(browser.get(path).content.decode()) == [version()]


@pytest.mark.django_db
def test_the_openapi_document_says_it(client: Client) -> None:
    document = client.get(reverse("api:schema"), HTTP_ACCEPT="application/vnd.oai.openapi+json")
    assert json.loads(document.content)["info"]["version"] == version()


def test_the_record_says_which_version_received_a_message(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(secret="a")
    monkeypatch.setattr(settings, "IEIM_VERSION", "0.2.0")
    turn = ask(secret="a")
    events = AuditEvent.objects.filter(chain=turn.session_id, kind="turn.received").order_by("seq")
    assert [json.loads(event.payload)["ieim"] for event in events] == [version(), "0.2.0"]
    call_command("verify_audit", stdout=StringIO())


def test_an_event_that_says_none_stays_valid(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    record = audit.record

    def as_before(*, payload: dict[str, Any], **kwargs: Any) -> AuditEvent:
        return record(payload={k: v for k, v in payload.items() if k != "ieim"}, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(audit, "record", as_before)
        turn = ask(secret="a")
    assert "ieim" not in json.loads(
        AuditEvent.objects.get(chain=turn.session_id, kind="turn.received").payload
    )
    ask(secret="a")
    call_command("verify_audit", stdout=StringIO())
