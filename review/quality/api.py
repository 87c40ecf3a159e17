"""Reading answers again by REST, what is said of one's own, and the figures."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer, LimitedTextField
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone
from review import reading
from review.api.replies import MessageTranslationSerializer
from review.api.schema import operation
from review.metrics.forms import MetricsForm
from review.quality import figures, selectors, services
from review.quality.models import Score
from review.replies.translating import NoTranslation

SCORES = Score.values
"""What the document has a name for, in ``ieim/config/settings.py``."""
VERDICT = serializers.ChoiceField(choices=SCORES)


class StatementSerializer(serializers.Serializer[Any]):
    """A sentence or fact of an answer, with its source as the citizen read it."""

    text = serializers.CharField()
    service = serializers.CharField(source="source")
    url = serializers.CharField(help_text="Empty where no page is linked.")
    language = serializers.CharField()


class WaitingSerializer(serializers.Serializer[Any]):
    """What waits to be read again, and what was drawn last."""

    left = serializers.IntegerField(help_text="Answers that you can take now.")
    day = serializers.DateField(allow_null=True, help_text="Whose answers were drawn from last.")
    drawn = serializers.IntegerField(help_text="Of that day.")
    read = serializers.IntegerField(help_text="Of these.")
    next = serializers.DateTimeField(allow_null=True, help_text="The next draw; null for none.")


class SampleSerializer(serializers.Serializer[Any]):
    """An answer to read: nothing says who decided it, or what others found."""

    id = serializers.UUIDField(source="pk")
    question = serializers.CharField(source="reply.turn.text")
    statements = StatementSerializer(many=True)


class ScoreSerializer(ClosedSerializer):
    """What a reader says of an answer."""

    scores = serializers.ListField(
        child=VERDICT, max_length=500, help_text="One for each statement, in their order."
    )
    remark = LimitedTextField(longest=services.MAX_REMARK, default="", allow_blank=True)


class ScoredSerializer(serializers.Serializer[Any]):
    """The worst of the scores, and the item that a harmful answer opened for its agency."""

    verdict = serializers.ChoiceField(choices=Score.values)
    item = serializers.UUIDField(allow_null=True)


class ReadSerializer(serializers.Serializer[Any]):
    """What a reader, who is not named, found; ``faults`` are the sentences that are not right."""

    verdict = serializers.ChoiceField(choices=Score.values)
    faults = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))
    remark = serializers.CharField()


class OwnAnswerSerializer(serializers.Serializer[Any]):
    """An answer that you decided, and what was said of it."""

    turn = serializers.UUIDField(source="turn.pk")
    useful = serializers.BooleanField(allow_null=True)
    reason = serializers.CharField(source="feedback.reason", default="")
    text = serializers.CharField(source="feedback.text", default="")
    readings = ReadSerializer(many=True)


class Samples(KnowledgeViewSet):
    """Answers that are read again, and what comes of it."""

    problems = {
        ObjectDoesNotExist: lambda _error: Http404(),
        services.Refused: lambda error: NotDone(str(error)),
        NoTranslation: lambda error: NotDone(str(error)),
    }

    @operation(
        "take_sample",
        "Take the next answer to read again",
        description="It is yours for two hours. Never one that you had a part in.",
        answer=SampleSerializer,
        responses={204: OpenApiResponse(description="No answer waits to be read.")},
        also=WRITING,
    )
    def take(self, request: Request) -> Response:
        taken = services.take_next(reader=self.user)
        return Response(status=204) if taken is None else self.read(request, taken.pk)

    @operation(
        "read_samples",
        "Read how many answers wait to be read again",
        description="Of the last day that was drawn from, without those that you had a part in.",
        answer=WaitingSerializer,
    )
    def waiting(self, request: Request) -> Response:
        return Response(WaitingSerializer(selectors.waiting(self.user, timezone.now())).data)

    @operation(
        "draw_samples",
        "Draw ten answers of the last week",
        description="Of your agencies; they count as put in by hand.",
        answer=WaitingSerializer,
        also=WRITING,
    )
    def draw(self, request: Request) -> Response:
        services.draw_by_hand(by=self.user)
        answer: Response = self.waiting(request)
        return answer

    @operation("read_sample", "Read an answer that you have taken", SampleSerializer, also=[404])
    def read(self, request: Request, sample: UUID) -> Response:
        taken: Any = selectors.taken(sample, self.user)
        taken.statements = selectors.statements(taken.reply)
        record_listed(reading.SAMPLE_READ, "readings", [sample], self.user)
        return Response(SampleSerializer(taken).data)

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
        done, item = services.score(reading_id=sample, reader=self.user, **body)
        answer = {"verdict": done.verdict, "item": item and item.pk}
        return Response(ScoredSerializer(answer).data)

    @operation(
        "translate_sample",
        "Have the question and the answer translated by the model",
        description="Into the language of `Accept-Language`; once is enough. It may be wrong.",
        answer=MessageTranslationSerializer,
        also=[*WRITING, 404, 422],
    )
    def translate(self, request: Request, sample: UUID) -> Response:
        translation = services.translate(reading_id=sample, reader=self.user)
        return Response(MessageTranslationSerializer(translation).data)

    @operation(
        "skip_sample",
        "Give an answer to somebody else; you are not offered it again",
        responses={204: OpenApiResponse(description="Somebody else has it next.")},
        also=[400, 404],
    )
    def skip(self, request: Request, sample: UUID) -> Response:
        services.score(reading_id=sample, reader=self.user, scores=None)
        return Response(status=204)

    @operation(
        "add_sample",
        "Have the answer of an item read again",
        responses={204: OpenApiResponse(description="Somebody else will read it.")},
        also=[*WRITING, 404, 422],
    )
    def add(self, request: Request, pk: UUID) -> Response:
        services.add(item_id=pk, by=self.user)
        return Response(status=204)

    @operation(
        "list_own_answers",
        "Read what is said of your answers, the newest hundred",
        responses={200: OwnAnswerSerializer(many=True)},
    )
    def answers(self, request: Request) -> Response:
        rows = [selectors.own_answer(reply) for reply in selectors.own_answers(self.user)[:100]]
        record_listed(reading.ANSWERS_LISTED, "turns", (r["turn"].pk for r in rows), self.user)
        return Response(OwnAnswerSerializer(rows, many=True).data)

    @operation(
        "read_quality",
        "Read the figures of answers that were read again",
        description="With `from`, `to`, `days` and `agency` as on the metrics page.",
        responses={200: OpenApiResponse(description="Shares and agreement, with intervals.")},
        also=[400],
    )
    def quality(self, request: Request) -> Response:
        params, today = request.query_params, timezone.localdate()
        form = MetricsForm(params, today=today, agencies=agencies_of(self.user))
        if not form.is_valid():
            raise ParseError(" ".join(str(errors[0]) for errors in form.errors.values()))
        period, agency = form.cleaned_data["period"], form.cleaned_data["agency"]
        return Response(figures.for_user(self.user, period, agency))


_SAMPLE: dict[str, Any] = {"get": "read", "post": "score", "delete": "skip"}
urlpatterns = [
    path("samples/", Samples.as_view({"get": "waiting"}), name="samples"),
    path("samples/draw/", Samples.as_view({"post": "draw"}), name="draw_samples"),
    path("samples/next/", Samples.as_view({"post": "take"}), name="next_sample"),
    path("samples/<uuid:sample>/", Samples.as_view(_SAMPLE), name="sample"),
    path(
        "samples/<uuid:sample>/translation/",
        Samples.as_view({"post": "translate"}),
        name="sample_translation",
    ),
    path("items/<uuid:pk>/sample/", Samples.as_view({"post": "add"}), name="add_sample"),
    path("answers/", Samples.as_view({"get": "answers"}), name="answers"),
    path("quality/", Samples.as_view({"get": "quality"}), name="quality"),
]
