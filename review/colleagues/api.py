"""Notes, mentions, putting an item away, presence and the timeline by REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer, ExactBooleanField, LimitedTextField
from ieim.studio.api.schema import WRITING, NotDone
from ieim.studio.api.staff import etag
from review import claims, reading
from review.api.schema import ETAG, operation
from review.api.serializers import StandingSerializer
from review.api.views import Items
from review.colleagues import presence, selectors, services
from review.deciding import locking

WHO = ("citizen", "staff", "assistant", "note", "colleague", "decision")


class ColleagueNoteSerializer(serializers.Serializer[Any]):
    """A note for colleagues."""

    id = serializers.UUIDField()
    item = serializers.UUIDField(source="item_id")
    by = serializers.CharField(source="author.username", help_text="A user name.")
    at = serializers.DateTimeField(source="created_at")
    text = serializers.CharField()


class NewNoteSerializer(ClosedSerializer):
    """A note to be stored."""

    text = LimitedTextField(
        longest=services.MAX_NOTE, allow_blank=True, help_text="`@username` mentions a colleague."
    )


class MentionSerializer(serializers.Serializer[Any]):
    """That a note mentions you."""

    id = serializers.IntegerField(source="pk")
    note = ColleagueNoteSerializer()
    read_at = serializers.DateTimeField(allow_null=True)


class SnoozeSerializer(ClosedSerializer):
    """Until when an item is put away."""

    until = serializers.DateTimeField()
    confirmed = ExactBooleanField(
        required=False, source="is_confirmed", help_text="Beyond its due time too."
    )


class TimelineEntrySerializer(serializers.Serializer[Any]):
    """One thing that happened."""

    who = serializers.ChoiceField(choices=WHO)
    at = serializers.DateTimeField()
    by = serializers.CharField(help_text="The name of a member of staff; empty for others.")
    text = serializers.SerializerMethodField()
    item = serializers.UUIDField(allow_null=True)

    def get_text(self, entry: Any) -> str:
        """Return what was said or done, an answer as plain text."""
        if entry.choice:
            return str(entry.choice.ended)
        reply = entry.answered and entry.answered.reply
        parts = (reply.title, reply.lead, *reply.paragraphs) if reply else (entry.text,)
        return "\n\n".join(filter(None, parts))


class PresentSerializer(serializers.Serializer[Any]):
    """Somebody who has the item open."""

    name = serializers.CharField()
    writes = serializers.BooleanField()


_READ = {204: OpenApiResponse(description="They are read.")}


def _many(serializer: type[serializers.Serializer[Any]]) -> dict[int, Any]:
    return {200: serializer(many=True)}


class Colleagues(Items):
    """What colleagues tell one another about items."""

    pagination_class = None  # type: ignore[assignment]  # its lists are short
    problems = {**Items.problems, services.NoteRefused: lambda error: NotDone(str(error))}

    @operation(
        "list_notes",
        "Read the notes on a conversation",
        responses=_many(ColleagueNoteSerializer),
        also=[404],
    )
    def notes(self, request: Request, pk: UUID) -> Response:
        items = selectors.items_beside(locking.find(pk, self.user), self.user)
        return Response(ColleagueNoteSerializer(selectors.notes(items), many=True).data)

    @operation(
        "add_note",
        "Write a note for colleagues",
        description="No citizen sees it. It is erased with the conversation.",
        body=NewNoteSerializer,
        answer=ColleagueNoteSerializer,
        status=201,
        also=[404, 422],
    )
    def add_note(self, request: Request, pk: UUID) -> Response:
        locking.find(pk, self.user)  # An item of others is not found, whatever the body.
        text = self.validated(NewNoteSerializer)["text"]
        note = services.add_note(item_id=pk, actor=self.user, text=text)
        return Response(ColleagueNoteSerializer(note).data, status=201)

    @operation(
        "snooze_review_item",
        "Put an item away until a time",
        description="Your claim ends. It comes back by itself, or when the citizen writes.",
        body=SnoozeSerializer,
        answer=StandingSerializer,
        parameters=[ETAG],
        also=[404, 409],
    )
    def snooze(self, request: Request, pk: UUID) -> Response:
        locking.find(pk, self.user)
        item = claims.snooze(item_id=pk, actor=self.user, **self.validated(SnoozeSerializer))
        return Response(StandingSerializer(item).data, headers={"ETag": etag(item.version)})

    @operation(
        "read_timeline",
        "Read a conversation in order",
        responses=_many(TimelineEntrySerializer),
        also=[404],
    )
    def timeline(self, request: Request, pk: UUID) -> Response:
        item = locking.find(pk, self.user)
        reading.record_read(item, self.user)
        return Response(
            TimelineEntrySerializer(selectors.timeline(item, self.user), many=True).data
        )

    @operation(
        "read_presence", "Read who has an item open", responses=_many(PresentSerializer), also=[404]
    )
    def presence(self, request: Request, pk: UUID) -> Response:
        entries = presence.present(locking.find(pk, self.user).pk)
        return Response(PresentSerializer(entries.values(), many=True).data)

    @operation("list_mentions", "Read your mentions", responses=_many(MentionSerializer))
    def mentions(self, request: Request) -> Response:
        newest = selectors.mentions(self.user)[: selectors.SHOWN]
        return Response(MentionSerializer(newest, many=True).data)

    @operation("read_mentions", "Mark your mentions as read", responses=_READ, also=WRITING)
    def read_mentions(self, request: Request) -> Response:
        services.read_mentions(user=self.user)
        return Response(status=204)


_ITEM = "items/<uuid:pk>/"
_MENTIONS: Any = {"get": "mentions", "post": "read_mentions"}

urlpatterns = [
    path("mentions/", Colleagues.as_view(_MENTIONS), name="mentions"),
    path(f"{_ITEM}notes/", Colleagues.as_view({"get": "notes", "post": "add_note"}), name="notes"),
    *(
        path(f"{_ITEM}{name}/", Colleagues.as_view({method: name}), name=name)
        for method, name in (("post", "snooze"), ("get", "timeline"), ("get", "presence"))
    ),
]
