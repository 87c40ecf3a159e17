"""``manage.py webhooks``."""

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
from tests.conversations.webhooks.receiving import NAME, Receiver, create_delivery, deliver_all

pytestmark = pytest.mark.usefixtures("db")
office = receiving.office
URL = "https://channel.example.org/ieim"


def webhooks(*arguments: str) -> tuple[str, str]:
    """Return what the command prints on standard output and on standard error."""
    out, err = StringIO(), StringIO()
    call_command("webhooks", *arguments, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_a_secret_is_shown_once_and_replaced() -> None:
    secret, note = webhooks("add", NAME, URL)
    assert secret == signing.secret(Webhook.objects.get())
    assert secret.startswith("whsec_")
    assert "once" in note
    assert secret not in note + "".join(webhooks("list"))
    rotated, _ = webhooks("rotate", NAME)
    webhooks("remove", NAME)
    recreated, _ = webhooks("add", NAME, URL)
    assert len({secret, rotated, recreated}) == 3
    kinds = AuditEvent.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == [*("webhook.made", "webhook.rotated", "webhook.removed", "webhook.made")]


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Office!", URL),
        ("x" * 41, URL),
        ("a\x00", URL),
        (NAME, "http://channel.example.org/"),
        (NAME, "ftp://channel.example.org/"),
        (NAME, "channel.example.org"),
        (NAME, "https://"),
        (NAME, "https://user:word@channel.example.org/"),
        (NAME, "https://channel.example.org/#top"),
        (NAME, "https://channel.example.org/\x00"),
        (NAME, "https://channel.example.org:99999999/"),
        (NAME, f"https://channel.example.org/{'x' * 500}"),
        (NAME, "https://[::1"),
    ],
)
def test_a_bad_name_or_address_is_refused(name: str, url: str) -> None:
    with pytest.raises(CommandError):
        webhooks("add", name, url)
    assert not Webhook.objects.exists()


def test_production_takes_no_address_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    with pytest.raises(CommandError, match="https"):
        webhooks("add", NAME, "http://127.0.0.1:9000/")


def test_a_name_that_is_taken_or_unknown_is_refused() -> None:
    webhooks("add", NAME, URL)
    with pytest.raises(CommandError, match="already"):
        webhooks("add", NAME, URL)
    for action in ("rotate", "stop", "start", "remove"):
        with pytest.raises(CommandError, match="no webhook"):
            webhooks(action, "other")


def test_deliveries_that_were_given_up_are_listed_and_sent_again(office: Receiver) -> None:
    delivery = create_delivery()
    services.give_up(delivery_id=delivery.pk, trouble="timeout")
    create_delivery()
    output, _ = webhooks("list")
    assert "1 waiting, 1 given up" in output
    assert f"{delivery.pk}  {NAME}  held  turn {delivery.turn_id}" in output
    output, _ = webhooks("again")
    assert output == "1 of 1 are sent again."
    deliver_all()
    assert office.events == ["held", "held"]
    with pytest.raises(CommandError, match="not given up"):
        webhooks("again", str(uuid4()))


def test_nothing_is_sent_to_a_stopped_webhook(office: Receiver) -> None:
    create_delivery()
    assert NAME in webhooks("stop", NAME)[0]
    assert Delivery.objects.filter(given_up_at=None).count() == 0
    deliver_all()
    assert office.events == []
    assert "stopped" in webhooks("list")[0]
    assert NAME in webhooks("start", NAME)[0]
    create_delivery()
    deliver_all()
    assert office.events == ["held"]
