"""What was answered from a service, and the notices of agencies."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.exceptions import APIException, ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge.models import Directive
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.notices import services
from ieim.studio.api import schema
from ieim.studio.api.entry_serializers import ADDRESSES
from ieim.studio.api.serializers import (
    AnswersQuerySerializer,
    AnswersSerializer,
    DirectiveSerializer,
    DirectivesSerializer,
    VersionsSerializer,
)
from ieim.studio.api.staff import StaffView
from ieim.studio.recall import selectors as recall

PAGE = 100
"""Answers, or notices, of a page."""


class NotNoticed(APIException):
    """422: a notice that cannot be like this; ``errors`` point at what is wrong."""

    status_code = 422

    def __init__(self, refused: services.Refused) -> None:
        super().__init__(str(refused))
        self.errors = [
            {"pointer": f"/{field}", "detail": text} for field, text in refused.problems.items()
        ]


class Versions(StaffView):
    """The versions of a service from which answers were made."""

    @schema.versions
    def get(self, request: Request) -> Response:
        """Read them, the newest first."""
        query = ADDRESSES["services"](data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        agency, service = query.validated_data["agency"], query.validated_data["key"]
        _require(self.user, agency)
        return Response(VersionsSerializer({"items": recall.versions(agency, service)}).data)


class Answers(StaffView):
    """The answers made from a service."""

    @schema.answers
    def get(self, request: Request) -> Response:
        """Read a page of them, the newest first. No word of a citizen's is in it."""
        query = AnswersQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        wanted = query.validated_data
        _require(self.user, wanted["agency"])
        rows = recall.listed(wanted["agency"], wanted["key"], wanted.get("version", ""))
        if "before" in wanted:
            rows = rows.filter(reply_id__lt=wanted["before"])
        page = list(rows[: PAGE + 1])
        shown = [
            {
                "reference": row.reply.turn.session.reference,
                "turn": row.reply.turn_id,
                "answered_at": row.reply.created_at,
                "origin": row.reply.origin,
                "language": row.reply.turn.language,
                "version": row.service_sha256,
                "corrected": getattr(row, "corrected", False),
            }
            for row in page[:PAGE]
        ]
        before = page[PAGE - 1].reply_id if len(page) > PAGE else None
        return Response(AnswersSerializer({"items": shown, "before": before}).data)


class Notices(StaffView):
    """The notices of the user's agencies."""

    @schema.notices
    def get(self, request: Request) -> Response:
        """Read those that are not over, and the newest of the others."""
        rows = notices.visible(self.user).order_by("-ends_at", "-pk")[:PAGE]
        return Response(DirectivesSerializer({"items": rows}).data)

    @schema.add_notice
    def post(self, request: Request) -> Response:
        """Add one."""
        body = DirectiveSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        wanted: dict[str, Any] = body.validated_data
        try:
            notice = services.add(
                agency=wanted.get("agency", ""),
                text=wanted["text"],
                starts_at=wanted.get("starts_at", timezone.now()),
                ends_at=wanted["ends_at"],
                by=self.user,
            )
        except services.Refused as refused:
            raise NotNoticed(refused) from refused
        return Response(DirectiveSerializer(notice).data, status=201)


class EndNotice(StaffView):
    """The end of a notice."""

    @schema.end_notice
    def post(self, request: Request, pk: int) -> Response:
        """End it now."""
        if request.data:
            raise ParseError("Send no body, or an empty object.")
        try:
            notice = services.end(directive_id=pk, by=self.user)
        except Directive.DoesNotExist as error:
            raise Http404 from error
        except services.Refused as refused:
            raise NotNoticed(refused) from refused
        return Response(DirectiveSerializer(notice).data)


def _require(user: Any, agency: str) -> None:
    if not recall.may_see(user, agency):
        raise Http404
