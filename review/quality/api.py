"""The sample by REST: taking an answer, scoring it, one's own answers, and the figures."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer, LimitedTextField
from conversations.models import Session
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone
from review import reading
from review.api.schema import operation
from review.metrics.forms import MetricsForm
from review.models import Reading, ReviewItem
from review.quality import figures, selectors, services
from review.quality.models import Score


class StatementSerializer(serializers.Serializer[Any]):
    """A sentence or fact of an answer, with its source as the citizen read it."""

    text = serializers.CharField()
    source_name = serializers.CharField(source="source")
    url = serializers.CharField(help_text="Empty where no page is linked.")
    language = serializers.CharField()


class SampleSerializer(serializers.Serializer[Any]):
    """An answer to read: nothing says who decided it, or what others found."""

    id = serializers.UUIDField()
    question = serializers.CharField(source="reply.turn.text")
    statements = serializers.SerializerMethodField()

    def get_statements(self, sample: Any) -> StatementSerializer:
        return StatementSerializer(selectors.statements(sample.reply), many=True).data  # type: ignore[return-value]  # the hint is for the document


class ScoreSerializer(ClosedSerializer):
    """What a reader says of an answer."""

    scores = serializers.ListField(
        child=serializers.ChoiceField(choices=Score.values),
        max_length=500,
        help_text="One for each statement, in their order.",
    )
    remark = LimitedTextField(longest=services.MAX_REMARK, default="", allow_blank=True)


class ScoredSerializer(serializers.Serializer[Any]):
    """What became of a reading."""

    verdict = serializers.ChoiceField(choices=Score.values)
    item = serializers.UUIDField(
        allow_null=True, help_text="The item that a harmful answer opened for its agency."
    )


class FaultSerializer(serializers.Serializer[Any]):
    """A sentence that a reader found not right."""

    text = serializers.CharField()
    score = serializers.ChoiceField(choices=Score.values)


class ReadSerializer(serializers.Serializer[Any]):
    """What a reader, who is not named, found."""

    verdict = serializers.ChoiceField(choices=Score.values)
    faults = FaultSerializer(many=True, help_text="The sentences that are not right.")
    remark = serializers.CharField()


class OwnAnswerSerializer(serializers.Serializer[Any]):
    """An answer that you decided, and what was said of it."""

    turn = serializers.UUIDField(source="turn.pk")
    useful = serializers.BooleanField(allow_null=True)
    reason = serializers.CharField(source="feedback.reason", default="")
    text = serializers.CharField(source="feedback.text", default="")
    readings = ReadSerializer(many=True)


class OwnAnswersSerializer(serializers.Serializer[Any]):
    """The newest of your answers of which somebody has said something."""

    items = OwnAnswerSerializer(many=True)


class Samples(KnowledgeViewSet):
    """The answers that are read again, and what comes of it."""

    limit = 100
    problems = {
        ReviewItem.DoesNotExist: lambda _error: Http404(),
        Reading.DoesNotExist: lambda _error: Http404(),
        Session.DoesNotExist: lambda _error: Http404(),
        services.Refused: lambda error: NotDone(str(error)),
    }

    @operation(
        "take_sample",
        "Take the next answer to read again",
        description="It is yours for 30 minutes. Never one that you had a part in.",
        answer=SampleSerializer,
        responses={204: OpenApiResponse(description="No answer waits to be read.")},
        also=WRITING,
    )
    def take(self, request: Request) -> Response:
        taken = services.take_next(reader=self.user)
        return Response(status=204) if taken is None else self.read(request, taken.sample_id)

    @operation(
        "read_sample", "Read an answer that you have taken", answer=SampleSerializer, also=[404]
    )
    def read(self, request: Request, sample: UUID) -> Response:
        taken = selectors.taken(sample, self.user)
        record_listed(reading.SAMPLE_READ, "samples", [sample], self.user)
        return Response(SampleSerializer(taken.sample).data)

    @operation(
        "score_sample",
        "Score an answer that you have taken",
        body=ScoreSerializer,
        answer=ScoredSerializer,
        also=[404, 422],
    )
    def score(self, request: Request, sample: UUID) -> Response:
        selectors.taken(sample, self.user)  # What is not theirs is not found, whatever the body.
        body = self.validated(ScoreSerializer)
        done, item = services.score(sample_id=sample, reader=self.user, **body)
        answer = {"verdict": done.verdict, "item": item and item.pk}
        return Response(ScoredSerializer(answer).data)

    @operation(
        "skip_sample",
        "Give an answer back unread; you are not offered it again",
        responses={204: OpenApiResponse(description="Somebody else may have it.")},
        also=[400, 404],
    )
    def skip(self, request: Request, sample: UUID) -> Response:
        services.score(sample_id=sample, reader=self.user, scores=[], skip=True)
        return Response(status=204)

    @operation(
        "add_sample",
        "Have the answer of an item read again",
        responses={204: OpenApiResponse(description="It is in the sample.")},
        also=[*WRITING, 404, 422],
    )
    def add(self, request: Request, pk: UUID) -> Response:
        services.add(item_id=pk, by=self.user)
        return Response(status=204)

    @operation("list_own_answers", "Read what is said of your answers", answer=OwnAnswersSerializer)
    def answers(self, request: Request) -> Response:
        rows = [selectors.own_answer(r) for r in selectors.own_answers(self.user)[: self.limit]]
        record_listed(reading.ANSWERS_LISTED, "turns", (r["turn"].pk for r in rows), self.user)
        return Response(OwnAnswersSerializer({"items": rows}).data)

    @operation(
        "read_quality",
        "Read the figures of the answers that were read again",
        description="With `from`, `to`, `days` and `agency` as on the metrics page.",
        responses={200: OpenApiResponse(description="Shares and agreement, with intervals.")},
        also=[400],
    )
    def quality(self, request: Request) -> Response:
        form = MetricsForm(
            request.query_params, today=timezone.localdate(), agencies=agencies_of(self.user)
        )
        if not form.is_valid():
            raise ParseError(" ".join(str(error[0]) for error in form.errors.values()))
        period, agency = form.cleaned_data["period"], form.cleaned_data["agency"]
        return Response(figures.for_user(self.user, period, agency).as_dict())


_SAMPLE: dict[str, Any] = {"get": "read", "post": "score", "delete": "skip"}
urlpatterns = [
    path("samples/next/", Samples.as_view({"post": "take"}), name="next_sample"),
    path("samples/<uuid:sample>/", Samples.as_view(_SAMPLE), name="sample"),
    path("items/<uuid:pk>/sample/", Samples.as_view({"post": "add"}), name="add_sample"),
    path("answers/", Samples.as_view({"get": "answers"}), name="answers"),
    path("quality/", Samples.as_view({"get": "quality"}), name="quality"),
]
