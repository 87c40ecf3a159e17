"""The baseline of taking messages: a bare Channels consumer that stores one row a message.

Served as the app is (the same server, database and pool), with nothing of the app around it.
"""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")

import django

django.setup()

from typing import ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import connection, models


class Message(models.Model):
    """What is stored of a message."""

    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[models.Manager[Message]] = models.Manager()

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.text


class Consumer(AsyncWebsocketConsumer):
    """Takes a message, stores it, and says which it is."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Store the message."""
        row = await database_sync_to_async(Message.objects.create)(text=text_data or "")
        await self.send(str(row.pk))


application = Consumer.as_asgi()


def create() -> None:
    """Make the table."""
    with connection.schema_editor() as editor:
        editor.create_model(Message)
