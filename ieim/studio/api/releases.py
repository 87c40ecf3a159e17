"""Releases and proposals."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge import selectors
from ieim.knowledge.models import Release
from ieim.studio.api import schema
from ieim.studio.api.serializers import (
    FullReleaseSerializer,
    ProposalSerializer,
    ProposalsSerializer,
    ProposeSerializer,
    ReasonSerializer,
    ReleaseSerializer,
    ReleasesSerializer,
)
from ieim.studio.api.staff import StaffView
from ieim.studio.models import Proposal
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.services import BeyondScope, ProposalError

NEWEST = 50
"""Proposals that are listed."""


class NotDone(APIException):
    """422: a proposal that cannot be made or decided like this. 403: it touches agencies that are
    not theirs."""

    status_code = 422

    def __init__(self, error: ProposalError) -> None:
        super().__init__(" ".join(error.reasons))
        if isinstance(error, BeyondScope):
            self.status_code = 403


class Releases(StaffView):
    """All releases."""

    @schema.releases
    def get(self, request: Request) -> Response:
        """Read the releases, newest first, without their content."""
        rows = Release.objects.defer("content").order_by("-number")
        current = selectors.current_number()
        return Response(ReleasesSerializer({"items": [_release(r, current) for r in rows]}).data)


class OneRelease(StaffView):
    """One release."""

    @schema.release
    def get(self, request: Request, number: int) -> Response:
        """Read a release with its content."""
        row = Release.objects.filter(number=number).first()
        if row is None:
            raise Http404
        shown = {**_release(row, selectors.current_number()), "content": row.content}
        return Response(FullReleaseSerializer(shown).data)


class Proposals(StaffView):
    """Proposals."""

    @schema.proposals
    def get(self, request: Request) -> Response:
        """Read the newest proposals."""
        rows = _proposals().order_by("-pk")[:NEWEST]
        return Response(ProposalsSerializer({"items": rows}).data)

    @schema.propose
    def post(self, request: Request) -> Response:
        """Propose the draft, or an earlier release again."""
        body = ProposeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        note = body.validated_data["note"]
        try:
            if "again" in body.validated_data:
                release = Release.objects.filter(number=body.validated_data["again"]).first()
                if release is None:
                    raise Http404
                made = proposals.propose_again(release=release, note=note, by=self.user)
            else:
                made = proposals.propose(note=note, by=self.user)
        except ProposalError as error:
            raise NotDone(error) from error
        return Response(ProposalSerializer(_proposals().get(pk=made.pk)).data, status=201)


class OneProposal(StaffView):
    """One proposal."""

    @schema.proposal
    def get(self, request: Request, pk: int) -> Response:
        """Read a proposal."""
        return Response(ProposalSerializer(find(pk)).data)


class Publish(StaffView):
    """The publication of what somebody else proposed."""

    @schema.publish
    def post(self, request: Request, pk: int) -> Response:
        """Publish it."""
        find(pk)
        try:
            row = proposals.publish_proposal(proposal_id=pk, by=self.user, reason=_reason(request))
        except ProposalError as error:
            raise NotDone(error) from error
        return Response(ReleaseSerializer(_release(row, selectors.current_number())).data)


class Refuse(StaffView):
    """The end of what somebody else proposed."""

    @schema.refuse
    def post(self, request: Request, pk: int) -> Response:
        """Turn it down."""
        find(pk)
        try:
            proposals.refuse(proposal_id=pk, by=self.user, reason=_reason(request))
        except ProposalError as error:
            raise NotDone(error) from error
        return Response(ProposalSerializer(find(pk)).data)


class Withdraw(StaffView):
    """The end of one's own proposal."""

    @schema.withdraw
    def post(self, request: Request, pk: int) -> Response:
        """Withdraw it."""
        find(pk)
        _reason(request)
        try:
            proposals.withdraw(proposal_id=pk, by=self.user)
        except ProposalError as error:
            raise NotDone(error) from error
        return Response(ProposalSerializer(find(pk)).data)


def _proposals() -> Any:
    return Proposal.objects.defer("content").select_related("proposed_by", "decided_by")


def find(pk: int) -> Proposal:
    """Return a proposal; raises Http404."""
    found: Proposal | None = _proposals().filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _reason(request: Request) -> str:
    body = ReasonSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    return str(body.validated_data.get("reason", ""))


def _release(row: Release, current: int | None) -> dict[str, Any]:
    names = ("number", "sha256", "note", "created_at")
    return {**{name: getattr(row, name) for name in names}, "current": row.number == current}
