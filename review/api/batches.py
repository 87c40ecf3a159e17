"""Groups of alike items, and a decision on many items, for programs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.studio.api.schema import KnowledgeViewSet
from review.api.errors import NotDecided
from review.api.schema import operation
from review.api.serializers import DecideSerializer, decision_of
from review.batches import alike, services
from review.batches.models import Batch, EntryState
from review.deciding import Action, Refused
from review.queue.filters import ItemFilter
from review.queue.selectors import listing


class GroupSerializer(serializers.Serializer[Any]):
    """Open items that failed alike."""

    alike = serializers.CharField(source="key", help_text="What `alike` filters the queue by.")
    items = serializers.IntegerField(source="number")
    last_hour = serializers.IntegerField(source="recent", help_text="Opened in the last hour.")
    hour_before = serializers.IntegerField(source="earlier")
    since = serializers.DateTimeField()


class GroupsSerializer(serializers.Serializer[Any]):
    """The groups, the largest first."""

    groups = GroupSerializer(many=True)


class BatchBodySerializer(DecideSerializer):
    """A decision on many items."""

    items = serializers.ListField(
        child=serializers.UUIDField(), min_length=1, max_length=services.MAX_ITEMS
    )


class BatchEntrySerializer(serializers.Serializer[Any]):
    """An item of a batch."""

    item = serializers.UUIDField(source="item_id")
    state = serializers.ChoiceField(choices=EntryState.values)
    problem = serializers.CharField(help_text="Why it was left as it is; empty otherwise.")


class BatchSerializer(serializers.Serializer[Any]):
    """How far a batch is."""

    id = serializers.UUIDField()
    takes_effect_at = serializers.DateTimeField(help_text="Until then it can be taken back.")
    finished_at = serializers.DateTimeField(allow_null=True)
    items = BatchEntrySerializer(source="entries.all", many=True)


class Batches(KnowledgeViewSet):
    """Groups and batches."""

    problems = {Batch.DoesNotExist: lambda _error: Http404()}

    @operation("list_alike_items", "List items that failed alike", answer=GroupsSerializer)
    def groups(self, request: Request) -> Response:
        now = timezone.now()
        groups = alike.groups(listing(self.user, ItemFilter(), now).branches[0], now)
        return Response(GroupsSerializer({"groups": groups}).data)

    @operation(
        "decide_review_items",
        "Decide many items",
        description=(
            "In the background, each by itself as `decide_review_item` would; nothing takes effect "
            "for a minute. Items in crisis are left, and what is refused."
        ),
        body=BatchBodySerializer,
        answer=BatchSerializer,
        status=202,
        also=[422],
    )
    def start(self, request: Request) -> Response:
        body = BatchBodySerializer(data=request.data)
        action, reason, payload = decision_of(request, body)
        try:
            batch = services.start(
                actor=self.user,
                item_ids=body.validated_data["items"],
                action=action,
                reason=reason,
                payload=payload,
            )
        except Refused as refused:
            raise NotDecided(refused, action) from refused
        return Response(BatchSerializer(batch).data, status=202)

    @operation("read_batch", "Read how far a batch is", answer=BatchSerializer, also=[404])
    def read(self, request: Request, batch: UUID) -> Response:
        return Response(BatchSerializer(services.within_reach(self.user).get(pk=batch)).data)

    @operation(
        "undo_batch",
        "Take a batch back",
        responses={202: OpenApiResponse(description="Nothing more of it takes effect.")},
        also=[400, 404, 422],
    )
    def remove(self, request: Request, batch: UUID) -> Response:
        try:
            services.undo(batch_id=batch, actor=self.user)
        except Refused as refused:
            raise NotDecided(refused, Action.UNDO) from refused
        return Response(status=202)
