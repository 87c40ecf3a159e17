"""The saved views of the queue: reading, saving, sharing and deleting them."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import WRITING, KnowledgeViewSet
from ieim.studio.api.schema import NotDone as Problem
from review.api.schema import operation
from review.queue.filters import ItemFilter
from review.queue.services import NotDone
from review.saved_views import services
from review.saved_views.selectors import links, view_links

SHARED = "An agency's id, `*` for everybody, null or empty for nobody."


class SavedViewSerializer(ClosedSerializer):
    """A view of the queue, with the number of items that you see in it; sent with the `id` of one
    it changes that one."""

    id = serializers.IntegerField(source="view.pk", min_value=1, required=False)
    name = serializers.CharField(source="view.name", max_length=services.MAX_NAME)
    query = serializers.CharField(
        source="view.query", max_length=services.MAX_QUERY, allow_blank=True
    )
    shared_with = serializers.CharField(
        source="view.shared_with",
        max_length=200,
        allow_blank=True,
        allow_null=True,
        help_text=SHARED,
    )
    owner = serializers.CharField(source="view.owner.username", read_only=True)
    items = serializers.IntegerField(read_only=True)
    may_change = serializers.BooleanField(read_only=True)


class Views(KnowledgeViewSet):
    """Saved views of the queue."""

    problems = {NotDone: lambda error: Problem(str(error))}

    @operation(
        "list_saved_views",
        "Read your views, and those shared with you",
        responses={200: SavedViewSerializer(many=True)},
    )
    def index(self, request: Request) -> Response:
        views = view_links(self.user, agencies_of(self.user), ItemFilter(), timezone.now())
        return Response(SavedViewSerializer(views, many=True).data)

    @operation(
        "save_view",
        "Save, change or share a view",
        body=SavedViewSerializer,
        answer=SavedViewSerializer,
        also=[*WRITING, 422],
    )
    def save(self, request: Request) -> Response:
        values = self.validated(SavedViewSerializer)["view"]
        view = services.save_view(
            actor=self.user,
            name=values["name"],
            query=values["query"],
            shared_with=values["shared_with"] or "",
            pk=str(values.get("pk", "")),
        )
        (link,) = links([view], self.user, ItemFilter(), timezone.now())
        return Response(SavedViewSerializer(link).data)

    @operation(
        "delete_view",
        "Delete a view",
        responses={204: OpenApiResponse(description="It is deleted.")},
        also=[400, 404, 422],
    )
    def remove(self, request: Request, pk: int) -> Response:
        services.delete_view(actor=self.user, pk=str(pk))
        return Response(status=204)
