"""The reviewers' resources: the queue, an item, its claim, its decision, its conversation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import parse_etags
from rest_framework.exceptions import APIException, ParseError, PermissionDenied
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.people.reading import note_listed
from ieim.pipeline.canonical import DecimalEncoder, with_shown_scores
from ieim.studio.api.staff import StaffView, etag
from review import claims, deciding, reading, talking
from review.api import schema
from review.api.errors import Changed, ItemConflict, NotDecided, NoVersion
from review.api.serializers import (
    ACTIONS,
    DecidedSerializer,
    ItemSerializer,
    PageSerializer,
    SaidSerializer,
    SaySerializer,
    StandingSerializer,
    TakeoverSerializer,
    decision_of,
    filters_of,
)
from review.claims import ClaimRefused
from review.deciding import Action, Conflict, Refused, locking
from review.item.selectors import load, wish
from review.models import ReviewItem
from review.queue import selectors
from review.queue.filters import BadAddress, ItemFilter
from review.queue.selectors import UnknownPage
from review.talking import CannotTalk

OPINIONS = (Action.AGREE, Action.DISAGREE)


class Renderer(JSONRenderer):
    """JSON with scores as numbers of two decimals."""

    encoder_class = DecimalEncoder

    def render(self, data: Any, *args: Any, **options: Any) -> Any:
        """Return ``data`` as JSON."""
        return super().render(with_shown_scores(data), *args, **options)


class MessageRefused(APIException):
    """422."""

    status_code = 422


class View(StaffView):
    """A resource for reviewers."""

    renderer_classes = [Renderer]

    def handle_exception(self, exc: Exception) -> Any:
        """Answer with the problem that a refusal is."""
        if isinstance(exc, ReviewItem.DoesNotExist):
            exc = Http404()
        elif isinstance(exc, ClaimRefused):
            exc = ItemConflict(str(exc))
        elif isinstance(exc, CannotTalk):
            exc = MessageRefused(str(exc))
        elif isinstance(exc, (BadAddress, UnknownPage)):
            exc = ParseError(str(exc))
        return super().handle_exception(exc)


class Items(View):
    """The queue."""

    @schema.items
    def get(self, request: Request) -> Response:
        """Read a page of a list."""
        filters, after, before = filters_of(request)
        now = timezone.now()
        listed = selectors.listing(self.user, filters, now)
        page = selectors.page(listed, after=after, before=before)
        note_listed(reading.LISTED, "items", (item.pk for item in page.items), self.user)
        session = selectors.conversation(self.user, listed.session) if listed.session else None
        shown = {
            "tab": filters.values["tab"],
            "in_crisis": len(selectors.counts(self.user, now, "open")["open"].crises),
            "session": session,
            "items": page.items,
            "next": _address(filters, after=page.next),
            "previous": _address(filters, before=page.previous),
        }
        return Response(PageSerializer(shown).data)


class OneItem(View):
    """One item."""

    @schema.item
    def get(self, request: Request, pk: UUID) -> Response:
        """Read an item."""
        item: Any = load(pk, self.user).item
        reading.note(item, self.user)
        prefetch_related_objects([item], "turn__stages__spans")
        item.spans = [span for stage in item.turn.stages.all() for span in stage.spans.all()]
        item.unsigned = deciding.missing_signatures(item)
        item.person = wish(item, self.user)
        item.actions = [
            {"action": action, "allowed": not why_not, "why_not": why_not}
            for action, why_not in deciding.may(item, self.user).items()
            if action in ACTIONS
        ]
        return Response(ItemSerializer(item).data, headers={"ETag": etag(item.version)})


class Claim(View):
    """Somebody's claim on an item."""

    change = staticmethod(claims.claim)

    @schema.claim
    def post(self, request: Request, pk: UUID) -> Response:
        """Claim an item."""
        item = self.change(item_id=pk, actor=self.user)
        return Response(StandingSerializer(item).data, headers={"ETag": etag(item.version)})


class Release(Claim):
    """The end of a claim."""

    change = staticmethod(claims.release)

    @schema.release
    def post(self, request: Request, pk: UUID) -> Response:
        """Give a claim back."""
        return super().post(request, pk)


class Decide(View):
    """A decision on an item."""

    @schema.decide
    def post(self, request: Request, pk: UUID) -> Response:
        """Decide an item."""
        seen = locking.find(pk, self.user)
        action, reason, payload = decision_of(request)
        if action in OPINIONS and not self.user.has_perm(locking.SECOND):
            raise PermissionDenied
        _require_seen(request, seen)
        try:
            decision = deciding.decide(
                item_id=pk,
                actor=self.user,
                version=seen.version,
                action=action,
                reason=reason,
                payload=payload,
            )
        except Refused as refused:
            raise NotDecided(refused, action) from refused
        except Conflict as conflict:
            same = ReviewItem.objects.filter(pk=pk, version=seen.version).exists()
            raise (ItemConflict if same else Changed)(str(conflict)) from conflict
        item = ReviewItem.objects.select_related("claimed_by").get(pk=pk)
        made = {"decision": decision.pk, "item": item}
        return Response(DecidedSerializer(made).data, headers={"ETag": etag(item.version)})


def _require_seen(request: Request, item: ReviewItem) -> None:
    """Raise unless the client has seen the item as it is; ``*`` says nothing of that."""
    if "If-Match" not in request.headers:
        raise NoVersion
    if etag(item.version) not in parse_etags(request.headers["If-Match"]):
        raise Changed


def _address(filters: ItemFilter, **place: str) -> str | None:
    """Return the address of another page of a list; None where there is none."""
    if not any(place.values()):
        return None
    query = urlencode(place)
    return f"{reverse('review_api:items')}?{filters.query}{'&' if filters.query else ''}{query}"


class Talk(View):
    """A takeover."""

    http_method_names = ["post", "delete"]

    @schema.begin
    def post(self, request: Request, pk: UUID) -> Response:
        """Take a conversation over."""
        takeover = talking.begin(item_id=pk, actor=self.user)
        return Response(TakeoverSerializer(takeover).data)

    @schema.hand_back
    def delete(self, request: Request, pk: UUID) -> Response:
        """Hand it back."""
        talking.hand_back(item_id=pk, actor=self.user)
        return Response(status=204)


class Messages(View):
    """What is said to the citizen."""

    http_method_names = ["post"]

    @schema.say
    def post(self, request: Request, pk: UUID) -> Response:
        """Write to the citizen."""
        locking.find(pk, self.user)  # Of what is not there nothing else is said.
        body = SaySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        line = talking.say(item_id=pk, actor=self.user, text=body.validated_data["text"])
        return Response(SaidSerializer(line).data, status=201)


app_name = "review_api"

urlpatterns = [
    path("items/", Items.as_view(), name="items"),
    path("items/<uuid:pk>/", OneItem.as_view(), name="item"),
    path("items/<uuid:pk>/claim/", Claim.as_view(), name="claim"),
    path("items/<uuid:pk>/release/", Release.as_view(), name="release"),
    path("items/<uuid:pk>/decide/", Decide.as_view(), name="decide"),
    path("items/<uuid:pk>/talk/", Talk.as_view(), name="talk"),
    path("items/<uuid:pk>/messages/", Messages.as_view(), name="messages"),
]
