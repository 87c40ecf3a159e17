"""The websocket of an item's open pages for staff: who else is there, and what has changed."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from conversations import notify
from ieim.people import sessions
from ieim.people.models import User
from review.colleagues import presence
from review.models import ReviewItem
from review.scope import SEE, visible

REFUSED = 4403
"""The code with which a socket is closed whose user may not see the item, or not any more."""


class ItemConsumer(AsyncWebsocketConsumer):
    """One open page of an item. A frame ``{"writes": bool}`` every few seconds is its heartbeat.

    With each of them the session, the user's rights and the item's scope are looked at again.
    """

    async def connect(self) -> None:
        """Accept who may see the item; refuse others (403)."""
        notify.register_loop()
        self.item_id: UUID = self.scope["url_route"]["kwargs"]["pk"]
        self.group, self.shown = presence.group_name(self.item_id), ""
        self.user: User | None = None
        if self.scope.get("subprotocols") or await self._viewer() is None:
            await self.close()
            return
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        """Let the others know that the page was closed."""
        if self.user is not None:
            await self.channel_layer.group_discard(self.group, self.channel_name)
            await database_sync_to_async(presence.leave)(self.item_id, self.user.pk)
            await self.channel_layer.group_send(self.group, {"type": "presence.changed"})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take a heartbeat; the socket is closed for anything else."""
        user = await self._viewer()
        try:
            writes = json.loads(text_data or "")["writes"] is True
        except (ValueError, TypeError, LookupError, RecursionError):
            user = None
        if user is None:
            await self.close(REFUSED)
        elif await database_sync_to_async(presence.beat)(self.item_id, user, writes=writes):
            await self.channel_layer.group_send(self.group, {"type": "presence.changed"})
        else:
            await self.presence_changed({})  # somebody may have fallen silent

    async def presence_changed(self, event: dict[str, Any]) -> None:
        """Send who else has the item open, unless the page has been told."""
        entries = await database_sync_to_async(presence.present)(self.item_id)
        own = self.user.pk if self.user is not None else None
        others = [
            {name: entry[name] for name in ("name", "writes")}
            for pk, entry in sorted(entries.items())
            if pk != own
        ]
        frame = json.dumps({"present": others})
        if frame != self.shown:
            self.shown = frame
            await self.send(frame)

    async def item_changed(self, event: dict[str, Any]) -> None:
        """Send what has become of the item, to who may still see it."""
        if await self._viewer() is None:
            await self.close(REFUSED)
        else:
            await self.send(json.dumps(await database_sync_to_async(_current)(self.item_id)))

    async def _viewer(self) -> User | None:
        key = self.scope["session"].session_key
        viewer = await database_sync_to_async(_viewer)(key, self.item_id)
        self.user = viewer or self.user
        return viewer


def _viewer(session_key: str | None, item_id: UUID) -> User | None:
    user = sessions.user_of(session_key)
    if user is None or not user.has_perm(SEE) or not visible(user).filter(pk=item_id).exists():
        return None
    return user


def _current(item_id: UUID) -> dict[str, Any]:
    """Return an item's state and version, and who has it, or else who decided it last."""
    item = ReviewItem.objects.select_related("claimed_by").get(pk=item_id)
    last = item.decisions.select_related("actor").last()
    by = item.holder(timezone.now()) or (last and last.actor)
    return {"state": item.state, "version": item.version, "name": by.display_name if by else ""}
