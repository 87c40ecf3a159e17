"""The reviewers' API for a takeover."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from review.api import schema
from review.api.errors import Taken
from review.api.taking import SaySerializer
from review.api.views import View
from review.claims.services import ClaimRefused, ClaimTaken
from review.deciding import locking
from review.models import ReviewItem
from review.talking import services
from review.talking.serializers import SaidSerializer, TakeoverSerializer
from review.talking.services import CannotTalk


class NotSaid(exceptions.APIException):
    """422."""

    status_code = 422


class Talking(View):
    """Something about the conversation of an item."""

    def handle_exception(self, exc: Exception) -> Any:
        """Answer with the problem that a service's refusal is."""
        if isinstance(exc, ReviewItem.DoesNotExist):
            exc = Http404()
        elif isinstance(exc, (ClaimTaken, ClaimRefused)):
            exc = Taken(str(exc))
        elif isinstance(exc, CannotTalk):
            exc = NotSaid(exc.message)
        return super().handle_exception(exc)


class Talk(Talking):
    """A takeover."""

    http_method_names = ["post", "delete"]

    @schema.begin
    def post(self, request: Request, pk: UUID) -> Response:
        """Take a conversation over."""
        takeover = services.begin(item_id=pk, actor=self.user)
        return Response(TakeoverSerializer(takeover).data)

    @schema.hand_back
    def delete(self, request: Request, pk: UUID) -> Response:
        """Hand it back."""
        services.hand_back(item_id=pk, actor=self.user)
        return Response(status=204)


class Messages(Talking):
    """What is said to the citizen."""

    http_method_names = ["post"]

    @schema.say
    def post(self, request: Request, pk: UUID) -> Response:
        """Write to the citizen."""
        locking.find(pk, self.user)  # Of what is not there nothing else is said.
        body = SaySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        line = services.say(item_id=pk, actor=self.user, text=body.validated_data["text"])
        return Response(SaidSerializer(line).data, status=201)
