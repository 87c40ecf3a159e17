"""Secrets and signatures, as Standard Webhooks has them (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from conversations.webhooks.models import Webhook

PREFIX = "whsec_"
OVERLAP = timedelta(hours=24)
"""How long what is sent has a signature by the old secret too, once there is a new one."""


def secret(webhook: Webhook, generation: int | None = None, key: str | None = None) -> str:
    """Return the secret of a generation, the present one where none is named.

    ``key`` is the site's secret key that it is made with, the present one where none is given.
    """
    number = webhook.generation if generation is None else generation
    made_of = f"{webhook.pk}:{number}"
    made = salted_hmac("conversations.webhooks", made_of, secret=key, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(made).decode()


def secrets(webhook: Webhook, now: datetime) -> list[str]:
    """Return the secrets that sign at ``now``, the newest first.

    Who receives may have one that the site's key of before has made: those sign too, for as long as
    that key is kept.
    """
    generations = [webhook.generation]
    if webhook.rotated_at is not None and now - webhook.rotated_at < OVERLAP:
        generations.append(webhook.generation - 1)
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [secret(webhook, generation, key) for generation in generations for key in keys]


def signature(secret: str, *, message: UUID, timestamp: int, body: bytes) -> str:
    """Return one signature: of the delivery's id, seconds since 1970, and the body."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(secrets: list[str], *, message: UUID, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the three headers; a signature by each secret."""
    signatures = (
        signature(each, message=message, timestamp=timestamp, body=body) for each in secrets
    )
    return {
        "webhook-id": str(message),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
