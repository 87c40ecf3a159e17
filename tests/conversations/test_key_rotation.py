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
    result = rotate()
    inside = client.get("/staff/").status_code == 403  # no role: but known
    assert inside is result
    if result:  # From then on their login needs the new key alone.
        settings.SECRET_KEY_FALLBACKS = []
        assert client.get("/staff/").status_code == 403


def test_citizens_keep_their_conversation(rotate: Any) -> None:
    cookie, frame = cookies.sign("s"), framing.sign(framing.FrameIdentity("s"))
    result = rotate()
    assert cookies.secret_of({cookies.NAME: cookie}) == ("s" if result else None)
    assert framing.unsign(frame) == (framing.FrameIdentity("s") if result else None)


def test_a_form_in_a_frame_can_be_sent_whatever_the_key(rotate: Any) -> None:
    before = framing.FrameIdentity("s").csrf_secret
    rotate()
    assert framing.FrameIdentity("s").csrf_secret == before
    assert framing.FrameIdentity("t").csrf_secret != before


def test_a_webhook_is_signed_with_the_previous_key_too(rotate: Any) -> None:
    webhook = Webhook(name="office", url="https://x.example", created_at=timezone.now())
    old_secret, message = signing.secret(webhook), uuid4()
    is_old_key_kept = rotate()
    headers = signing.headers(webhook, message=message, now=timezone.now(), body=b"{}")
    signed = f"{message}.{headers['webhook-timestamp']}.".encode() + b"{}"
    signatures = headers["webhook-signature"].split()
    for secret, is_valid in ((old_secret, is_old_key_kept), (signing.secret(webhook), True)):
        key = base64.b64decode(secret.removeprefix(signing.PREFIX))
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        assert (f"v1,{base64.b64encode(digest).decode()}" in signatures) is is_valid
