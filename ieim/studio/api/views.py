"""Releases and proposals, trying the draft, what was answered from a service, and notices."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import Http404
from django.urls import path, register_converter
from django.urls.converters import IntConverter
from django.utils import timezone
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import effective_by
from ieim.knowledge.models import Release
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.notices import services as notice_services
from ieim.people.scope import works_for
from ieim.pipeline.message.screen import refusal
from ieim.studio.api.entries import VIEWS
from ieim.studio.api.files import FILES, StandardFile
from ieim.studio.api.schema import NotDone, StaffViewSet, operation
from ieim.studio.api.serializers import (
    ADDRESSES,
    AnswersQuerySerializer,
    AnswersSerializer,
    DirectiveSerializer,
    DirectivesSerializer,
    FullReleaseSerializer,
    GoldenRunSerializer,
    ProposalSerializer,
    ProposalsSerializer,
    ProposeSerializer,
    ReasonSerializer,
    ReleaseSerializer,
    ReleasesSerializer,
    TrialsSerializer,
    TrySerializer,
    VersionsSerializer,
)
from ieim.studio.models import Proposal
from ieim.studio.proposals import services as proposals
from ieim.studio.recall import selectors as recall
from ieim.studio.trying import asking, presenters
from ieim.studio.trying import services as golden

NEWEST = 50
"""Proposals that are listed."""
PAGE = 100
"""Answers, or notices, of a page."""


def _release(row: Release) -> dict[str, Any]:
    names = ("number", "sha256", "note", "created_at")
    values = {name: getattr(row, name) for name in names}
    newest = knowledge.newest()
    if newest is None or row.number != newest.number:
        return {**values, "current": False, "effective_by": None}
    return {**values, "current": True, "effective_by": effective_by(newest)}


class Releases(StaffViewSet):
    @operation("list_releases", "Read the releases", answer=ReleasesSerializer)
    def index(self, request: Request) -> Any:
        rows = Release.objects.defer("content").order_by("-number")
        return {"items": [_release(row) for row in rows]}

    @operation(
        "read_release", "Read a release with its content", answer=FullReleaseSerializer, also=[404]
    )
    def read(self, request: Request, number: int) -> Any:
        row = Release.objects.filter(number=number).first()
        if row is None:
            raise Http404
        return {**_release(row), "content": row.content}


_decision = partial(operation, body=ReasonSerializer, also=[404, 422])


def _proposals() -> Any:
    return Proposal.objects.defer("content").select_related("proposed_by", "decided_by")


def _find(pk: int) -> Proposal:
    found: Proposal | None = _proposals().filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


class Proposals(StaffViewSet):
    @operation("list_proposals", "Read the newest proposals", answer=ProposalsSerializer)
    def index(self, request: Request) -> Any:
        return {"items": _proposals().order_by("-pk")[:NEWEST]}

    @operation("read_proposal", "Read a proposal", answer=ProposalSerializer, also=[404])
    def read(self, request: Request, pk: int) -> Any:
        return _find(pk)

    @operation(
        "propose",
        "Propose the draft, or an earlier release again",
        "The draft as it is now is kept; editing goes on. One proposal is open at a time. 422 "
        "names what is wrong with the draft, or says that the checks of a large one still run.",
        body=ProposeSerializer,
        answer=ProposalSerializer,
        status=201,
        also=[404, 422],
    )
    def propose(self, request: Request, body: dict[str, Any]) -> Any:
        if "again" not in body:
            return _find(proposals.propose(note=body["note"], by=self.user).pk)
        release = Release.objects.filter(number=body["again"]).first()
        if release is None:
            raise Http404
        made = proposals.propose_again(release=release, note=body["note"], by=self.user)
        return _find(made.pk)

    @_decision(
        "publish_proposal",
        "Publish what somebody else proposed",
        "Where golden questions get worse, a `reason` is needed. Running turns keep their release.",
        answer=ReleaseSerializer,
    )
    def publish(self, request: Request, pk: int, body: dict[str, Any]) -> Any:
        _find(pk)
        reason = body.get("reason", "")
        return _release(proposals.publish_proposal(proposal_id=pk, by=self.user, reason=reason))

    @_decision(
        "refuse_proposal",
        "Turn a proposal down",
        "A `reason` is needed.",
        answer=ProposalSerializer,
    )
    def refuse(self, request: Request, pk: int, body: dict[str, Any]) -> Any:
        _find(pk)
        proposals.refuse(proposal_id=pk, by=self.user, reason=body.get("reason", ""))
        return _find(pk)

    @_decision(
        "withdraw_proposal",
        "Withdraw your own proposal",
        "No reason is kept.",
        answer=ProposalSerializer,
    )
    def withdraw(self, request: Request, pk: int, body: dict[str, Any]) -> Any:
        _find(pk)
        proposals.withdraw(proposal_id=pk, by=self.user)
        return _find(pk)

    @operation(
        "start_golden_run",
        "Ask the golden questions of a proposal",
        "A worker asks them; `golden_run` of the proposal says how far that is.",
        answer=GoldenRunSerializer,
        status=202,
        also=[404, 422],
    )
    def golden_run(self, request: Request, pk: int) -> Any:
        return golden.start(proposal=_find(pk), by=self.user)


class Trials(StaffViewSet):
    @operation(
        "try_question",
        "Ask the draft and the published release",
        "Nothing of it is stored. It calls the model as a citizen's question would.",
        body=TrySerializer,
        answer=TrialsSerializer,
        also=[422, 503],
    )
    def ask(self, request: Request, body: dict[str, Any]) -> Any:
        text = body["text"]
        if problem := refusal(text):
            raise NotDone(str(problem))
        return {"sides": [presenters.side_view(side, text) for side in asking.ask_both(text)]}


class Answers(StaffViewSet):
    @operation(
        "list_versions",
        "Read the versions of a service that answers were made from",
        query=ADDRESSES["services"],
        answer=VersionsSerializer,
        also=[404],
    )
    def read(self, request: Request, query: dict[str, Any]) -> Any:
        self._require(query["agency"])
        return {"items": recall.versions(query["agency"], query["key"])}

    @operation(
        "list_answers",
        "Read which answers were made from a service",
        query=AnswersQuerySerializer,
        answer=AnswersSerializer,
        also=[404],
    )
    def index(self, request: Request, query: dict[str, Any]) -> Any:
        self._require(query["agency"])
        rows = recall.listed(query["agency"], query["key"], query.get("version", ""))
        if "before" in query:
            rows = rows.filter(reply_id__lt=query["before"])
        page = list(rows[: PAGE + 1])
        return {
            "items": page[:PAGE],
            "before": page[PAGE - 1].reply_id if len(page) > PAGE else None,
        }

    def _require(self, agency: str) -> None:
        if not works_for(self.user, agency):
            raise Http404


class Notices(StaffViewSet):
    @operation("list_notices", "Read the notices", answer=DirectivesSerializer)
    def index(self, request: Request) -> Any:
        return {"items": notices.visible(self.user).order_by("-ends_at", "-pk")[:PAGE]}

    @operation(
        "add_notice",
        "Add a notice",
        "It applies at once: to new answers, and to what the stages are told.",
        body=DirectiveSerializer,
        answer=DirectiveSerializer,
        status=201,
        also=[422],
    )
    def add(self, request: Request, body: dict[str, Any]) -> Any:
        values = {"agency": "", "starts_at": timezone.now(), **body}
        return notice_services.add(**values, by=self.user)

    @operation("end_notice", "End a notice now", answer=DirectiveSerializer, also=[404, 422])
    def end(self, request: Request, pk: int) -> Any:
        if request.data:
            raise ParseError("Send no body, or an empty object.")
        return notice_services.end(directive_id=pk, by=self.user)


app_name = "knowledge_api"


class Number(IntConverter):
    """A number that every database can look for."""

    regex = "[0-9]{1,9}"


register_converter(Number, "number")

_LIST: dict[str, Any] = {"get": "index"}
_ENTRY: dict[str, Any] = {"get": "read", "put": "save", "delete": "remove"}
_FILE: dict[str, Any] = {"get": "read", "post": "take"}
_PROPOSAL = "proposals/<number:pk>/"

urlpatterns = [
    *(path(f"{t}/", view.as_view(_LIST), name=t) for t, view in VIEWS.items()),
    *(path(f"{t}/entry/", view.as_view(_ENTRY), name=f"{t}_entry") for t, view in VIEWS.items()),
    *(path(f"{t}/file/", view.as_view(_FILE), name=f"{t}_file") for t, view in FILES.items()),
    path("standards/file/", StandardFile.as_view({"post": "take"}), name="standards_file"),
    path("releases/", Releases.as_view(_LIST), name="releases"),
    path("releases/<number:number>/", Releases.as_view({"get": "read"}), name="release"),
    path("proposals/", Proposals.as_view({**_LIST, "post": "propose"}), name="proposals"),
    path(_PROPOSAL, Proposals.as_view({"get": "read"}), name="proposal"),
    path(f"{_PROPOSAL}golden-run/", Proposals.as_view({"post": "golden_run"}), name="golden_run"),
    path(f"{_PROPOSAL}publish/", Proposals.as_view({"post": "publish"}), name="publish"),
    path(f"{_PROPOSAL}refuse/", Proposals.as_view({"post": "refuse"}), name="refuse"),
    path(f"{_PROPOSAL}withdraw/", Proposals.as_view({"post": "withdraw"}), name="withdraw"),
    path("try/", Trials.as_view({"post": "ask"}), name="try"),
    path("versions/", Answers.as_view({"get": "read"}), name="versions"),
    path("answers/", Answers.as_view(_LIST), name="answers"),
    path("notices/", Notices.as_view({**_LIST, "post": "add"}), name="notices"),
    path("notices/<number:pk>/end/", Notices.as_view({"post": "end"}), name="end_notice"),
]
