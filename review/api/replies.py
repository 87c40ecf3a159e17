"""Saved replies, similar cases and translations, for programs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer, LimitedTextField
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone
from review import reading
from review.api.schema import operation
from review.deciding import locking
from review.replies import saved, similar, translating
from review.replies.models import LONGEST_TEXT, MessageTranslation, SavedReply
from review.replies.saved import ReplyError
from review.replies.translating import NoTranslation


class SavedReplySerializer(serializers.ModelSerializer[SavedReply]):
    """A saved reply; `agency` is empty for one of every agency."""

    class Meta:
        model = SavedReply
        fields = ["id", *saved.FIELDS, "used", "last_used_at"]


class SavedRepliesSerializer(serializers.Serializer[Any]):
    """Saved replies."""

    items = SavedReplySerializer(many=True)


class SaveReplySerializer(ClosedSerializer):
    """A saved reply as it is to be; `text` may have the placeholders of the documentation."""

    title = LimitedTextField(longest=80)
    language = LimitedTextField(longest=8)
    agency = LimitedTextField(longest=ID_LIMIT, allow_blank=True)
    text = LimitedTextField(longest=LONGEST_TEXT)


class FillSerializer(ClosedSerializer):
    """The item, and the service to fill the placeholders from; without one, what fits the message
    best."""

    item = serializers.UUIDField()
    agency = LimitedTextField(longest=ID_LIMIT, required=False)
    service = LimitedTextField(longest=ID_LIMIT, required=False)


class FilledSerializer(serializers.Serializer[Any]):
    """A text to be sent; a placeholder without a value stands in it, and has to be replaced."""

    text = serializers.CharField()


class SimilarCaseSerializer(serializers.Serializer[Any]):
    """A decided item with a similar message."""

    item = serializers.UUIDField(source="item.pk")
    message = serializers.CharField()
    sent = serializers.CharField(help_text="The reply that the citizen got, as text.")
    decided_by = serializers.CharField(source="decision.actor.username")
    decided_at = serializers.DateTimeField(source="decision.created_at")


class SimilarCasesSerializer(serializers.Serializer[Any]):
    """Decided items with similar messages, the nearest first."""

    items = SimilarCaseSerializer(many=True)


class MessageTranslationSerializer(serializers.ModelSerializer[MessageTranslation]):
    """A model's translation of the message. It may be wrong; the original counts."""

    class Meta:
        model = MessageTranslation
        fields = ["language", "text", "created_at"]


class Replies(KnowledgeViewSet):
    """Saved replies, and what belongs to an item of texts."""

    problems = {
        ObjectDoesNotExist: lambda _error: Http404(),
        ReplyError: lambda error: NotDone(str(error)),
        NoTranslation: lambda error: NotDone(str(error)),
    }

    @operation("list_saved_replies", "Read the saved replies", answer=SavedRepliesSerializer)
    def index(self, request: Request) -> Response:
        return Response(SavedRepliesSerializer({"items": saved.visible_replies(self.user)}).data)

    @operation(
        "add_saved_reply",
        "Save a reply to use again",
        body=SaveReplySerializer,
        answer=SavedReplySerializer,
        status=201,
        also=[422],
    )
    def add(self, request: Request) -> Response:
        reply = saved.save(by=self.user, values=self.validated(SaveReplySerializer))
        return Response(SavedReplySerializer(reply).data, status=201)

    @operation(
        "change_saved_reply",
        "Change a saved reply",
        body=SaveReplySerializer,
        answer=SavedReplySerializer,
        also=[404, 422],
    )
    def change(self, request: Request, reply: int) -> Response:
        saved.visible_replies(self.user).get(pk=reply)  # Not found, whatever the body.
        values = self.validated(SaveReplySerializer)
        changed = saved.save(by=self.user, values=values, pk=reply)
        return Response(SavedReplySerializer(changed).data)

    @operation(
        "delete_saved_reply",
        "Delete a saved reply",
        responses={204: OpenApiResponse(description="It is deleted.")},
        also=[400, 404, 422],
    )
    def remove(self, request: Request, reply: int) -> Response:
        saved.delete(by=self.user, pk=reply)
        return Response(status=204)

    @operation(
        "fill_saved_reply",
        "Fill a saved reply for an item",
        description="Counts as its use. Send the text as you would your own: nothing is sent here.",
        body=FillSerializer,
        answer=FilledSerializer,
        also=[404],
    )
    def fill(self, request: Request, reply: int) -> Response:
        saved.visible_replies(self.user).get(pk=reply)
        body = self.validated(FillSerializer)
        item = locking.find(body["item"], self.user)
        reading.record_read(item, self.user)
        service = (body.get("agency", ""), body.get("service", ""))
        text, _ = saved.insert(by=self.user, pk=reply, item=item, service=service)
        return Response({"text": text})

    @operation(
        "read_similar_cases",
        "Read decided items with similar messages",
        description="Of the item's agencies, by meaning; none where no embedder is configured.",
        answer=SimilarCasesSerializer,
        also=[404],
    )
    def similar(self, request: Request, pk: UUID) -> Response:
        item = locking.find(pk, self.user)
        reading.record_read(item, self.user)
        cases = similar.similar_cases(item, self.user)
        return Response(SimilarCasesSerializer({"items": cases}).data)

    @operation(
        "translate_message",
        "Have an item's message translated by the model",
        description=(
            "Into the language of `Accept-Language`, for staff to read; once is enough. No answer "
            "is made from it, and no citizen gets it."
        ),
        answer=MessageTranslationSerializer,
        also=[*WRITING, 404, 422],
    )
    def translate(self, request: Request, pk: UUID) -> Response:
        item = locking.find(pk, self.user)
        reading.record_read(item, self.user)
        translation = translating.translate(
            of=item, turn=item.turn, text=item.turn.text, by=self.user
        )
        return Response(MessageTranslationSerializer(translation).data)
