"""The board by REST: its numbers, sharing out, absences."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer
from ieim.people.models import User
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone
from review.api.schema import operation
from review.board import selectors, services
from review.queue import services as queue


class BarSerializer(serializers.Serializer[Any]):
    """A number of items, and the query string of the list that has them."""

    words = serializers.CharField()
    number = serializers.IntegerField()
    query = serializers.CharField()


class WorkerSerializer(serializers.Serializer[Any]):
    """A colleague; `median_seconds` is of their decisions of today."""

    account = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.display_name")
    absent_until = serializers.DateTimeField(allow_null=True)
    active = serializers.BooleanField()
    held = serializers.IntegerField(source="held.number")
    decided_today = serializers.IntegerField(source="done.number")
    median_seconds = serializers.FloatField(source="median", allow_null=True)


class TableSerializer(serializers.Serializer[Any]):
    """Open items by one of their facts."""

    name = serializers.CharField()
    bars = BarSerializer(many=True)


class BoardSerializer(serializers.Serializer[Any]):
    """The board; `dangers` are the items in crisis that nobody has opened."""

    dangers = serializers.ListField(child=serializers.UUIDField())
    overdue = BarSerializer()
    soon = BarSerializer()
    open = BarSerializer()
    tables = TableSerializer(many=True)
    people = WorkerSerializer(many=True)


class ShareSerializer(ClosedSerializer):
    """How many items; with `preview` nothing is assigned."""

    number = serializers.IntegerField(min_value=1, max_value=queue.MAX_ITEMS)
    preview = serializers.BooleanField(default=False)


class SharedSerializer(serializers.Serializer[Any]):
    """How many items each account gets or got; or how many were given back."""

    shares = serializers.DictField(child=serializers.IntegerField(), required=False)
    given_back = serializers.IntegerField(required=False)


class AbsenceSerializer(ClosedSerializer):
    """The day on which somebody is back, null when they are present; with `give_back` what they
    hold is given back too."""

    account = serializers.CharField(max_length=150)
    until = serializers.DateField(allow_null=True)
    give_back = serializers.BooleanField(default=False)


class Board(KnowledgeViewSet):
    """The lead's board."""

    problems = {
        User.DoesNotExist: lambda _error: Http404(),
        queue.NotDone: lambda error: NotDone(str(error)),
    }

    @operation("read_board", "Read the board", answer=BoardSerializer)
    def index(self, request: Request) -> Response:
        board: dict[str, Any] = selectors.board(self.user, timezone.now())
        board["dangers"] = [item.pk for item in board["dangers"]]
        return Response(BoardSerializer(board).data)

    @operation(
        "share_out_items",
        "Share free items out by load",
        body=ShareSerializer,
        answer=SharedSerializer,
        also=[422],
    )
    def share(self, request: Request) -> Response:
        body = self.validated(ShareSerializer)
        number = body["number"]
        if body["preview"]:
            planned = services.plan(number=number, actor=self.user)
            given = Counter(to for _, to in planned)
        else:
            given = services.share_out(number=number, actor=self.user)
        return Response({"shares": {to.get_username(): n for to, n in given.items()}})

    @operation(
        "undo_share", "Give back what you shared out last", answer=SharedSerializer, also=[*WRITING]
    )
    def undo(self, request: Request) -> Response:
        return Response({"given_back": services.undo_share(actor=self.user)})

    @operation(
        "set_absence",
        "Say until when somebody is absent",
        body=AbsenceSerializer,
        answer=SharedSerializer,
        also=[404, 422],
    )
    def absence(self, request: Request) -> Response:
        body = self.validated(AbsenceSerializer)
        username = body["account"]
        services.set_absence(username=username, until=body["until"], actor=self.user)
        count = 0
        if body["give_back"]:
            count = services.give_back(username=username, actor=self.user)
        return Response({"given_back": count})
