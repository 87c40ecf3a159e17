"""The gap desk: the groups of questions that ended badly, and what is done about them."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ieim.studio.api import serializers
from ieim.studio.api.schema import KnowledgeViewSet, operation
from ieim.studio.gaps import selectors
from ieim.studio.gaps.services import handle, record_shown
from ieim.studio.models import GapAction, Service

PAGE_SIZE = 50


class Gaps(KnowledgeViewSet):
    """The groups likely of the user's agencies, and those of nobody."""

    @operation(
        "list_gaps",
        "Read the groups of questions that ended badly",
        serializers.GapGroupsSerializer,
        "Those with the most matching questions first. That you were shown them is recorded.",
        query=serializers.GapsQuerySerializer,
    )
    def list(self, request: Request) -> Response:
        query = self.query(serializers.GapsQuerySerializer)
        page, week = query.pop("page", 1), query.pop("week", None)
        names = ("agency", "language", "outcome", "state")
        filters = {name: query.get(name, "") for name in names}
        filters["week"] = week.isoformat() if week else ""
        groups = selectors.listed(self.user, **filters)
        start = (page - 1) * PAGE_SIZE
        shown = [*groups[start : start + PAGE_SIZE + 1]]
        rows = selectors.rows(shown[:PAGE_SIZE])
        record_shown(rows, self.user)
        following = page + 1 if len(shown) > PAGE_SIZE else None
        answer = serializers.GapGroupsSerializer({"items": rows, "next": following})
        return Response(answer.data)

    @operation(
        "handle_gap",
        "Do something about a group of questions",
        serializers.GapActionSerializer,
        "`example` and `golden` need `text` and `service`, `situation` needs `text` and "
        "`situation`, `correction` needs `service`, and `no_gap` needs `reason`. `service` and "
        "`correction` only record that somebody has begun.",
        body=serializers.HandleGapSerializer,
        status=201,
        also=[404, 422],
    )
    def create(self, request: Request, pk: int) -> Response:
        group = self.get_object()
        body = self.validated(serializers.HandleGapSerializer)
        service = body.pop("service", None)
        if service is not None:
            rows = Service.objects.filter(agency=service["agency"], key=service["key"])
            service = rows.first()
        kind = GapAction.Kind(body.pop("action"))
        action = handle(group=group, kind=kind, by=self.user, service=service, **body)
        return Response(serializers.GapActionSerializer(action).data, status=201)

    def get_queryset(self) -> Any:
        return selectors.visible(self.user)
