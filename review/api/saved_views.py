"""The saved views of the queue: reading, saving, sharing and deleting them."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer
from ieim.people.models import EVERY_AGENCY
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import WRITING, KnowledgeViewSet
from ieim.studio.api.schema import NotDone as Problem
from review.api.schema import operation
from review.models import SavedView
from review.queue.filters import ItemFilter
from review.queue.services import NotDone
from review.saved_views import services
from review.saved_views.selectors import view_links

SHARED = f"An agency's id, `{EVERY_AGENCY}` for everybody, or empty for nobody."


class SaveSerializer(ClosedSerializer):
    """A view as it is to be stored; `id` names one that is changed."""

    id = serializers.IntegerField(min_value=1, required=False)
    name = serializers.CharField(max_length=services.MAX_NAME)
    query = serializers.CharField(max_length=services.MAX_QUERY, allow_blank=True)
    shared_with = serializers.CharField(
        max_length=200, allow_blank=True, default="", help_text=SHARED
    )


class SavedSerializer(serializers.ModelSerializer[SavedView]):
    """A view that is stored; `query` is that of the list's address."""

    owner = serializers.CharField(source="owner.username", help_text="A user name.")
    shared_with = serializers.CharField(allow_null=True, help_text=SHARED)

    class Meta:
        model = SavedView
        fields = ("id", "name", "query", "owner", "shared_with")


class LinkSerializer(serializers.Serializer[Any]):
    """A view with how many items you see in it now."""

    view = SavedSerializer()
    items = serializers.IntegerField(min_value=0)
    may_change = serializers.BooleanField()


class Views(KnowledgeViewSet):
    """Saved views of the queue."""

    problems = {NotDone: lambda error: Problem(str(error))}

    @operation(
        "list_saved_views",
        "Read your views, and those shared with you",
        responses={200: LinkSerializer(many=True)},
    )
    def index(self, request: Request) -> Response:
        links = view_links(self.user, agencies_of(self.user), ItemFilter(), timezone.now())
        return Response(LinkSerializer(links, many=True).data)

    @operation(
        "save_view",
        "Save, change or share a view",
        body=SaveSerializer,
        answer=SavedSerializer,
        also=[*WRITING, 422],
    )
    def save(self, request: Request) -> Response:
        values = self.validated(SaveSerializer)
        view = services.save_view(actor=self.user, pk=str(values.pop("id", "")), **values)
        return Response(SavedSerializer(view).data)

    @operation(
        "delete_view",
        "Delete a view",
        responses={204: OpenApiResponse(description="It is deleted.")},
        also=[400, 404, 422],
    )
    def remove(self, request: Request, pk: int) -> Response:
        services.delete_view(actor=self.user, pk=str(pk))
        return Response(status=204)
