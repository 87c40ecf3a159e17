"""Secrets and signatures, as Standard Webhooks has them (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from uuid import UUID

from django.utils.crypto import salted_hmac

from conversations.webhooks.models import Webhook

PREFIX = "whsec_"
OVERLAP = timedelta(hours=24)
"""How long what is sent has a signature by the old secret too, once there is a new one."""


def secret(webhook: Webhook, generation: int | None = None) -> str:
    """Return the secret of a generation, the present one where none is named."""
    number = webhook.generation if generation is None else generation
    made_of = f"{webhook.pk}:{number}"
    key = salted_hmac("conversations.webhooks", made_of, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(key).decode()


def secrets(webhook: Webhook, now: datetime) -> list[str]:
    """Return the secrets that sign at ``now``, the newest first."""
    found = [secret(webhook)]
    if webhook.rotated_at is not None and now - webhook.rotated_at < OVERLAP:
        found.append(secret(webhook, webhook.generation - 1))
    return found


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
