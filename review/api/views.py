"""The reviewers' resource: the queue, an item, its claim, its decision, its conversation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404
from django.urls import include, path, reverse
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiResponse
from rest_framework.exceptions import ParseError, PermissionDenied
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.people.reading import record_listed
from ieim.pipeline.canonical import DecimalEncoder, with_shown_scores
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone
from ieim.studio.api.staff import etag
from review import claims, deciding, reading, talking
from review.api.batches import Batches
from review.api.errors import Changed, NotDecided, NoVersion
from review.api.replies import Replies
from review.api.saved_views import Views
from review.api.schema import DECISION, ETAG, IF_MATCH, operation
from review.api.serializers import (
    ACTIONS,
    DecidedSerializer,
    ItemSerializer,
    PageSerializer,
    QueueQuerySerializer,
    SaidSerializer,
    SaySerializer,
    StandingSerializer,
    TakeoverSerializer,
    decision_of,
    filters_of,
)
from review.board.api import Board
from review.claims import ClaimRefused
from review.deciding import Action, Conflict, Refused, locking
from review.item.selectors import load, person_request
from review.models import ReviewItem
from review.quality import api as quality
from review.queue import selectors
from review.queue.filters import BadAddress
from review.queue.selectors import UnknownPage
from review.second.comparison import comparison
from review.talking import CannotTalk

OPINIONS = (Action.AGREE, Action.DISAGREE)


class Renderer(JSONRenderer):
    """JSON with scores as numbers of two decimals."""

    encoder_class = DecimalEncoder

    def render(self, data: Any, *args: Any, **options: Any) -> Any:
        """Return ``data`` as JSON."""
        return super().render(with_shown_scores(data), *args, **options)


class Items(KnowledgeViewSet):
    """The items of the queue."""

    renderer_classes = [Renderer]
    problems = {
        ReviewItem.DoesNotExist: lambda _error: Http404(),
        ClaimRefused: lambda error: NotDone(str(error), status=409),
        CannotTalk: lambda error: NotDone(str(error)),
        BadAddress: lambda error: ParseError(str(error)),
        UnknownPage: lambda error: ParseError(str(error)),
    }

    @operation(
        "list_review_items",
        "Read the queue",
        description=(
            "The lists and filters of the queue page: crises first, then by urgency, then what "
            "is due first; of what is done, the newest first. Follow `next` and `previous` to "
            "other pages."
        ),
        answer=PageSerializer,
        parameters=[QueueQuerySerializer],
        also=[400],
    )
    def index(self, request: Request) -> Response:
        filters, after, before = filters_of(request)
        now = timezone.now()
        listed = selectors.listing(self.user, filters, now)
        page = selectors.page(listed, after=after, before=before)
        record_listed(reading.LISTED, "items", (item.pk for item in page.items), self.user)

        def address(**position: str) -> str | None:
            if not any(position.values()):
                return None
            query = "&".join(filter(None, [filters.query, urlencode(position)]))
            return f"{reverse('review_api:items')}?{query}"

        queue = {
            "tab": filters.values["tab"],
            "in_crisis": len(selectors.counts(self.user, now, "open")["open"].crises),
            "session": selectors.conversation(self.user, listed.session)
            if listed.session
            else None,
            "items": page.items,
            "next": address(after=page.next),
            "previous": address(before=page.previous),
        }
        return Response(PageSerializer(queue).data)

    @operation(
        "read_review_item",
        "Read an item",
        description="Why it stopped, with every attempt and its raw answer, and what you may do.",
        answer=ItemSerializer,
        parameters=[ETAG],
        also=[404],
    )
    def read(self, request: Request, pk: UUID) -> Response:
        loaded = load(pk, self.user)
        item: Any = loaded.item
        reading.record_read(item, self.user)
        prefetch_related_objects([item], "turn__stages__spans")
        item.spans = [span for stage in item.turn.stages.all() for span in stage.spans.all()]
        item.unsigned = deciding.missing_signatures(item)
        item.person = person_request(item, self.user)
        item.second = comparison(loaded)
        item.actions = [
            {"action": action, "allowed": not why_not, "why_not": why_not}
            for action, why_not in deciding.may(item, self.user).items()
            if action in ACTIONS
        ]
        return Response(ItemSerializer(item).data, headers={"ETag": etag(item.version)})

    @operation(
        "claim_review_item",
        "Claim an item",
        description="Yours is renewed. A claim ends by itself at `claimed_until`.",
        answer=StandingSerializer,
        parameters=[ETAG],
        also=[*WRITING, 404, 409],
    )
    def claim(self, request: Request, pk: UUID) -> Response:
        item = claims.claim(item_id=pk, actor=self.user)
        return Response(StandingSerializer(item).data, headers={"ETag": etag(item.version)})

    @operation(
        "release_review_item",
        "Give a claim back",
        answer=StandingSerializer,
        parameters=[ETAG],
        also=[*WRITING, 404, 409],
    )
    def release(self, request: Request, pk: UUID) -> Response:
        item = claims.release(item_id=pk, actor=self.user)
        return Response(StandingSerializer(item).data, headers={"ETag": etag(item.version)})

    @operation(
        "decide_review_item",
        "Decide an item",
        description=(
            "You must have claimed it. An override passes the same gate as a model's answer: 422 "
            "with the findings where it does not. Where a second person or another agency has to "
            "agree first, the decision is kept and `state` is not `decided`."
        ),
        body=DECISION,
        answer=DecidedSerializer,
        parameters=[IF_MATCH, ETAG],
        also=[404, 409, 412, 422, 428],
    )
    def decide(self, request: Request, pk: UUID) -> Response:
        current = locking.find(pk, self.user)
        action, reason, payload = decision_of(request)
        # Who signs for an agency may send back what they will not sign.
        signs = deciding.missing_signatures(current)
        if action in OPINIONS and not self.user.has_perm(locking.SECOND) and not signs:
            raise PermissionDenied
        _require_current(request, current)
        try:
            decision = deciding.decide(
                item_id=pk,
                actor=self.user,
                version=current.version,
                action=action,
                reason=reason,
                payload=payload,
            )
        except Refused as refused:
            raise NotDecided(refused, action) from refused
        except Conflict as conflict:
            if ReviewItem.objects.filter(pk=pk, version=current.version).exists():
                raise NotDone(str(conflict), status=409) from conflict
            raise Changed(str(conflict)) from conflict
        item = ReviewItem.objects.select_related("claimed_by").get(pk=pk)
        answer = DecidedSerializer({"decision": decision.pk, "item": item})
        return Response(answer.data, headers={"ETag": etag(item.version)})

    @operation(
        "take_conversation_over",
        "Take the conversation of an item over",
        description=(
            "Claims the item where it is free. Until you hand it back the assistant is silent: "
            "what the citizen sends is stored for you, and no model reads it."
        ),
        answer=TakeoverSerializer,
        also=[*WRITING, 404, 409, 422],
    )
    def begin(self, request: Request, pk: UUID) -> Response:
        takeover = talking.begin(item_id=pk, actor=self.user)
        return Response(TakeoverSerializer(takeover).data)

    @operation(
        "hand_conversation_back",
        "Hand the conversation back to the assistant",
        responses={204: OpenApiResponse(description="The assistant answers again.")},
        also=[400, 404],
    )
    def remove(self, request: Request, pk: UUID) -> Response:
        talking.hand_back(item_id=pk, actor=self.user)
        return Response(status=204)

    @operation(
        "write_to_citizen",
        "Write to the citizen",
        description="While you have the conversation. Read what they send at the item's session.",
        body=SaySerializer,
        answer=SaidSerializer,
        status=201,
        also=[404, 409, 422],
    )
    def say(self, request: Request, pk: UUID) -> Response:
        locking.find(pk, self.user)  # An item of others is not found, whatever the body.
        said = self.validated(SaySerializer)
        line = talking.say(item_id=pk, actor=self.user, **said)
        return Response(SaidSerializer(line).data, status=201)


def _require_current(request: Request, item: ReviewItem) -> None:
    """Raise unless the client has seen the item as it is; ``*`` is no version."""
    if "If-Match" not in request.headers:
        raise NoVersion
    if etag(item.version) not in parse_etags(request.headers["If-Match"]):
        raise Changed


app_name = "review_api"

_ITEM = "items/<uuid:pk>/"

urlpatterns = [
    path("", include("review.colleagues.api")),
    *quality.urlpatterns,
    path("board/", Board.as_view({"get": "index"}), name="board"),
    path("board/share/", Board.as_view({"post": "share", "delete": "undo"}), name="share"),
    path("board/absence/", Board.as_view({"put": "absence"}), name="absence"),
    path("items/", Items.as_view({"get": "index"}), name="items"),
    path("groups/", Batches.as_view({"get": "groups"}), name="groups"),
    path("batches/", Batches.as_view({"post": "start"}), name="batches"),
    path(
        "batches/<uuid:batch>/",
        Batches.as_view({"get": "read", "delete": "remove"}),
        name="batch",
    ),
    path(_ITEM, Items.as_view({"get": "read"}), name="item"),
    path(f"{_ITEM}claim/", Items.as_view({"post": "claim"}), name="claim"),
    path(f"{_ITEM}release/", Items.as_view({"post": "release"}), name="release"),
    path(f"{_ITEM}decide/", Items.as_view({"post": "decide"}), name="decide"),
    path(f"{_ITEM}talk/", Items.as_view({"post": "begin", "delete": "remove"}), name="talk"),
    path("views/", Views.as_view({"get": "index", "post": "save"}), name="views"),
    path("views/<int:pk>/", Views.as_view({"delete": "remove"}), name="view"),
    path(f"{_ITEM}messages/", Items.as_view({"post": "say"}), name="messages"),
    path("replies/", Replies.as_view({"get": "index", "post": "add"}), name="replies"),
    path(
        "replies/<int:reply>/",
        Replies.as_view({"put": "change", "delete": "remove", "post": "fill"}),
        name="reply",
    ),
    path(f"{_ITEM}similar/", Replies.as_view({"get": "similar"}), name="similar"),
    path(f"{_ITEM}translation/", Replies.as_view({"post": "translate"}), name="translation"),
]
