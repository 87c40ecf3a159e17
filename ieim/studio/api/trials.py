"""Trying the draft: one question, or all golden ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge.bundles.bundle import BundleError
from ieim.pipeline.message.screen import refusal
from ieim.studio.api import schema
from ieim.studio.api.releases import find
from ieim.studio.api.serializers import GoldenRunSerializer, TrialsSerializer, TrySerializer
from ieim.studio.api.staff import StaffView
from ieim.studio.trying import comparing, presenters
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
            sides = comparing.ask_both(text)
        except BundleError as error:
            problems = " ".join(map(str, error.errors))
            raise NotTried(f"The draft cannot be used. {problems}") from error
        except comparing.NoModel as error:
            raise ModelAway(str(error)) from error
        shown = [_side(presenters.side_view(side, text)) for side in sides]
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


def _side(view: presenters.SideView) -> dict[str, Any]:
    return {
        "which": view.which,
        "ending": view.ending,
        "held": view.held,
        "findings": view.findings,
        "reply": view.reply,
        "stages": [
            {
                "contract": stage.contract,
                "passed": stage.passed,
                "tokens": stage.tokens,
                "findings": stage.findings,
                "shortlists": [
                    {"kind": shown.kind, "candidates": [asdict(c) for c in shown.candidates]}
                    for shown in stage.shortlists
                ],
                "calls": [
                    {"given": call.given, "said": call.said, "findings": call.findings}
                    for call in stage.calls
                ],
            }
            for stage in view.stages
        ],
    }
