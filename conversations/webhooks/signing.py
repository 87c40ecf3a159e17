"""Secrets and signatures of webhooks, by Standard Webhooks (https://www.standardwebhooks.com)."""

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
"""How long the previous secret still signs after a rotation."""


def secret(webhook: Webhook, generation: int | None = None, key: str | None = None) -> str:
    """Return the secret of a generation, by default the current one.

    It is derived from ``key``, by default the site's current secret key.
    """
    number = webhook.generation if generation is None else generation
    value = f"{webhook.pk}:{number}"
    digest = salted_hmac("conversations.webhooks", value, secret=key, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(digest).decode()


def headers(webhook: Webhook, *, message: UUID, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a message in JSON, signed by each secret that is valid ``now``.

    Those of the site's previous keys are valid too, because receivers may still have them.
    """
    generations = [webhook.generation]
    if webhook.rotated_at is not None and now - webhook.rotated_at < OVERLAP:
        generations.append(webhook.generation - 1)
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    secrets = [secret(webhook, generation, key) for generation in generations for key in keys]
    timestamp = str(int(now.timestamp()))
    signed = f"{message}.{timestamp}.".encode() + body
    return {
        "Content-Type": "application/json",
        "User-Agent": f"IEIM/{settings.IEIM_VERSION}",
        "webhook-id": str(message),
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
