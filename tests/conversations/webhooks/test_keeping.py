"""``manage.py webhooks``: making and keeping them."""

from __future__ import annotations

from io import StringIO
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from conversations.models import Delivery, Webhook
from conversations.webhooks import services, signing
from ieim.audit.models import AuditEvent
from tests.conversations.webhooks import receiving
from tests.conversations.webhooks.receiving import NAME, Receiver, work
from tests.conversations.webhooks.test_delivering import event

pytestmark = pytest.mark.usefixtures("db")
office = receiving.office
URL = "https://channel.example.org/ieim"


def webhooks(*arguments: str) -> tuple[str, str]:
    """What the command prints on standard output and on standard error."""
    out, err = StringIO(), StringIO()
    call_command("webhooks", *arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_it_shows_a_secret_once() -> None:
    made, said = webhooks("add", "office", URL)
    assert made == signing.secret(Webhook.objects.get())
    assert made.startswith("whsec_")
    assert "once" in said
    assert made not in said + "".join(webhooks("list"))
    rotated, _ = webhooks("rotate", "office")
    assert rotated not in (made, "")
    kinds = AuditEvent.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["webhook.made", "webhook.rotated"]


def test_one_that_is_made_again_has_another_secret() -> None:
    first, _ = webhooks("add", "office", URL)
    webhooks("remove", "office")
    second, _ = webhooks("add", "office", URL)
    assert first != second


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Office!", URL),
        ("x" * 41, URL),
        ("a\x00", URL),
        ("office", "http://channel.example.org/"),
        ("office", "ftp://channel.example.org/"),
        ("office", "channel.example.org"),
        ("office", "https://"),
        ("office", "https://user:word@channel.example.org/"),
        ("office", "https://channel.example.org/#top"),
        ("office", "https://channel.example.org/\x00"),
        ("office", "https://channel.example.org:99999999/"),
        ("office", f"https://channel.example.org/{'x' * 500}"),
        ("office", "https://[::1"),
    ],
)
def test_it_says_what_is_wrong(name: str, url: str) -> None:
    with pytest.raises(CommandError):
        webhooks("add", name, url)
    assert not Webhook.objects.exists()


def test_production_takes_no_address_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    with pytest.raises(CommandError, match="https"):
        webhooks("add", "office", "http://127.0.0.1:9000/")


def test_it_refuses_a_name_twice_and_one_that_is_not_there() -> None:
    webhooks("add", "office", URL)
    with pytest.raises(CommandError, match="already"):
        webhooks("add", "office", URL)
    for doing in ("rotate", "stop", "start", "remove"):
        with pytest.raises(CommandError, match="no webhook"):
            webhooks(doing, "other")


def test_it_lists_what_was_given_up_and_sends_it_again(office: Receiver) -> None:
    delivery = event()
    services.give_up(delivery_id=delivery.pk, trouble="timeout")
    shown, _ = webhooks("list")
    assert "0 waiting, 1 given up" in shown
    assert f"{delivery.pk}  {NAME}  held  turn {delivery.turn_id}" in shown
    said, _ = webhooks("again")
    assert said == "1 of 1 are sent again."
    work()
    assert office.told == ["held"]
    with pytest.raises(CommandError, match="not given up"):
        webhooks("again", str(uuid4()))


def test_one_that_is_stopped_is_told_nothing(office: Receiver) -> None:
    event()
    assert NAME in webhooks("stop", NAME)[0]
    assert Delivery.objects.filter(given_up_at=None).count() == 0
    work()
    assert "stopped" in webhooks("list")[0]
    assert NAME in webhooks("start", NAME)[0]
    event()
    work()
    assert len(office.got) == 1
