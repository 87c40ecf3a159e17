"""A new secret key: what the one before has signed goes on while it is kept, and not after."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from conversations import framing
from conversations.chat import cookies
from conversations.webhooks import signing
from conversations.webhooks.models import Webhook
from ieim.people.models import User

OLD = settings.SECRET_KEY
NEW = "a-new-key-that-nobody-knows-" + "0123456789" * 4


@pytest.fixture(params=[True, False], ids=["kept", "dropped"])
def rotate(request: pytest.FixtureRequest, settings: Any) -> Any:
    """Put a new key in place of the old one, which is kept or not; returns whether it is."""

    def to_new() -> bool:
        settings.SECRET_KEY = NEW
        settings.SECRET_KEY_FALLBACKS = [OLD] if request.param else []
        return bool(request.param)

    return to_new


def test_staff_stay_logged_in(db: None, rotate: Any) -> None:
    user = User.objects.create_user("eva")
    user.set_password("a password for the test")
    user.save()
    client = Client()
    client.login(request=HttpRequest(), username="eva", password="a password for the test")
    kept = rotate()
    inside = client.get("/staff/").status_code == 403  # no role: but known
    assert inside is kept
    if kept:  # From then on their login needs the new key alone.
        settings.SECRET_KEY_FALLBACKS = []
        assert client.get("/staff/").status_code == 403


def test_citizens_keep_their_conversation(rotate: Any) -> None:
    cookie, frame = cookies.sealed("s"), framing.sign(framing.Carried("s"))
    kept = rotate()
    assert cookies.secret_of({cookies.NAME: cookie}) == ("s" if kept else None)
    assert framing.unsign(frame) == (framing.Carried("s") if kept else None)


def test_a_form_in_a_frame_can_be_sent_whatever_the_key(rotate: Any) -> None:
    before = framing.Carried("s").csrf_secret
    rotate()
    assert framing.Carried("s").csrf_secret == before
    assert framing.Carried("t").csrf_secret != before


def test_who_receives_webhooks_needs_no_new_secret_yet(rotate: Any) -> None:
    webhook = Webhook(name="office", url="https://x.example", created_at=timezone.now())
    secret, message = signing.secret(webhook), uuid4()
    kept = rotate()
    secrets = signing.secrets(webhook, timezone.now())
    sent = signing.headers(secrets, message=message, timestamp=1, body=b"{}")
    key = base64.b64decode(secret.removeprefix(signing.PREFIX))
    mine = hmac.new(key, f"{message}.1.".encode() + b"{}", hashlib.sha256).digest()
    signatures = sent["webhook-signature"].split()
    assert (f"v1,{base64.b64encode(mine).decode()}" in signatures) is kept
    assert signing.signature(signing.secret(webhook), message=message, timestamp=1, body=b"{}") in (
        signatures
    )
