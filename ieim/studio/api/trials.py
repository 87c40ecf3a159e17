"""Trying the draft: one question, or all golden ones."""

from __future__ import annotations

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge.bundles.bundle import BundleError
from ieim.pipeline.message.screen import refusal
from ieim.studio.api import schema
from ieim.studio.api.releases import find
from ieim.studio.api.serializers import GoldenRunSerializer, TrialsSerializer, TrySerializer
from ieim.studio.api.staff import StaffView
from ieim.studio.trying import asking, presenters
from ieim.studio.trying import services as golden


class NotTried(APIException):
    """422: it cannot be asked."""

    status_code = 422


class ModelAway(APIException):
    """503: the model cannot be reached."""

    status_code = 503


class Try(StaffView):
    """One question, asked of the draft and of the published release. Nothing of it is stored."""

    @schema.trial
    def post(self, request: Request) -> Response:
        """Ask."""
        body = TrySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        text = body.validated_data["text"]
        if problem := refusal(text):
            raise NotTried(str(problem))
        try:
            sides = asking.ask_both(text)
        except BundleError as error:
            problems = " ".join(map(str, error.errors))
            raise NotTried(f"The draft cannot be used. {problems}") from error
        except asking.NoModel as error:
            raise ModelAway(str(error)) from error
        shown = [presenters.side_view(side, text) for side in sides]
        return Response(TrialsSerializer({"sides": shown}).data)


class StartGoldenRun(StaffView):
    """The golden questions of a proposal."""

    @schema.golden_run
    def post(self, request: Request, pk: int) -> Response:
        """Have them asked; the proposal says how far that is."""
        try:
            run = golden.start(proposal=find(pk), by=self.user)
        except golden.GoldenError as error:
            raise NotTried(str(error)) from error
        return Response(GoldenRunSerializer(run).data, status=202)
