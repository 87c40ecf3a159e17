"""Releases and proposals, the playground, answers of a service, and notices."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db.models import Prefetch
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path, register_converter
from django.urls.converters import IntConverter
from django.utils import timezone
from drf_spectacular.utils import extend_schema_view
from rest_framework.exceptions import ParseError
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ieim.knowledge.models import Release
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.notices import services as notice_services
from ieim.people.scope import works_for
from ieim.pipeline.message.screen import refusal
from ieim.studio.api import serializers
from ieim.studio.api.dictionary import DictionaryChanges
from ieim.studio.api.entries import VIEWS
from ieim.studio.api.files import FILES, StandardFiles
from ieim.studio.api.gaps import Gaps
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, NotDone, operation
from ieim.studio.api.webpage_entries import WebPageEntries
from ieim.studio.api.webpages import PageRuns, SavedPages, WebPages
from ieim.studio.models import GoldenRun, Proposal
from ieim.studio.proposals import services as proposals
from ieim.studio.recall import selectors as recall
from ieim.studio.trying import services as golden
from ieim.studio.trying.playground import ask_both
from ieim.studio.trying.presenters import side_view

PAGE_SIZE = 100
"""Answers, or notices, of a page."""


@extend_schema_view(
    list=operation("list_releases", "Read the releases", serializers.ReleasesSerializer),
    retrieve=operation(
        "read_release",
        "Read a release with its content",
        serializers.FullReleaseSerializer,
        also=[404],
    ),
)
class Releases(ListModelMixin, RetrieveModelMixin, KnowledgeViewSet):
    queryset = Release.objects.order_by("-number")
    lookup_field = "number"

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return rows.defer("content") if self.action == "list" else rows

    def get_serializer_class(self) -> Any:
        return (
            serializers.ReleaseSerializer
            if self.action == "list"
            else serializers.FullReleaseSerializer
        )


_decision = partial(operation, body=serializers.ReasonSerializer, also=[404, 422])


@extend_schema_view(
    list=operation("list_proposals", "Read the newest proposals", serializers.ProposalsSerializer),
    retrieve=operation(
        "read_proposal", "Read a proposal", serializers.ProposalSerializer, also=[404]
    ),
)
class Proposals(ListModelMixin, RetrieveModelMixin, KnowledgeViewSet):
    queryset = (
        Proposal.objects.defer("content")
        .select_related("proposed_by", "decided_by")
        .prefetch_related(Prefetch("golden_runs", GoldenRun.objects.defer("result")))
    )
    serializer_class = serializers.ProposalSerializer
    limit = 50

    @operation(
        "propose",
        "Propose your change set, or an earlier release again",
        serializers.ProposalSerializer,
        "Your entries of the draft as they are now are kept; editing goes on. 422 names what is "
        "wrong with them, or says that the checks of a large release still run.",
        body=serializers.ProposeSerializer,
        status=201,
        also=[404, 422],
    )
    def create(self, request: Request) -> Response:
        body = self.validated(serializers.ProposeSerializer)
        if "again" in body:
            release = get_object_or_404(Release, number=body["again"])
            proposal = proposals.propose_again(release=release, note=body["note"], by=self.user)
        else:
            times = {name: body.get(name) for name in ("publish_at", "expires_at")}
            proposal = proposals.propose(
                note=body["note"], by=self.user, proposal_id=body.get("set"), **times
            )
        return self._response(proposal.pk, status=201)

    @_decision(
        "publish_proposal",
        "Publish what somebody else proposed",
        serializers.ReleaseSerializer,
        "Where golden questions get worse, a `reason` is needed. Running turns keep their release. "
        "One with a time to come is 202: it is published then.",
        responses={202: serializers.ProposalSerializer},
    )
    def publish(self, request: Request, pk: int) -> Response:
        release = proposals.publish_proposal(proposal_id=pk, by=self.user, reason=self._reason())
        if release is None:
            return self._response(pk, status=202)
        return Response(serializers.ReleaseSerializer(release).data)

    @_decision(
        "refuse_proposal",
        "Turn a proposal down",
        serializers.ProposalSerializer,
        "A `reason` is needed. One that is agreed and waits for its time is taken back so.",
    )
    def refuse(self, request: Request, pk: int) -> Response:
        proposals.refuse(proposal_id=pk, by=self.user, reason=self._reason())
        return self._response(pk)

    @_decision(
        "withdraw_proposal",
        "Withdraw your own proposal",
        serializers.ProposalSerializer,
        "No reason is kept.",
    )
    def withdraw(self, request: Request, pk: int) -> Response:
        self._reason()
        proposals.withdraw(proposal_id=pk, by=self.user)
        return self._response(pk)

    @operation(
        "start_golden_run",
        "Ask the golden questions of a proposal",
        serializers.GoldenRunSerializer,
        "A worker asks them; `golden_run` of the proposal says how far that is.",
        status=202,
        also=[*WRITING, 404, 422],
    )
    def golden_run(self, request: Request, pk: int) -> Response:
        run = golden.start(proposal=self.get_object(), by=self.user)
        return Response(serializers.GoldenRunSerializer(run).data, status=202)

    def _reason(self) -> str:
        """Return the reason in the body, for a proposal that is there."""
        reason: str = self.validated(serializers.ReasonSerializer).get("reason", "")
        self.get_object()
        return reason

    def _response(self, pk: int, status: int = 200) -> Response:
        return Response(
            serializers.ProposalSerializer(self.get_queryset().get(pk=pk)).data, status=status
        )


class Trials(KnowledgeViewSet):
    @operation(
        "try_question",
        "Ask the draft and the published release",
        serializers.TrialsSerializer,
        "Nothing of it is stored. It calls the model as a citizen's question would.",
        body=serializers.TrySerializer,
        also=[422, 503],
    )
    def create(self, request: Request) -> Response:
        text = self.validated(serializers.TrySerializer)["text"]
        if problem := refusal(text):
            raise NotDone(str(problem))
        return Response(
            serializers.TrialsSerializer({"sides": map(side_view, ask_both(text))}).data
        )


class Answers(KnowledgeViewSet):
    """Answers that were made from a service of the user's agencies."""

    @operation(
        "list_versions",
        "Read the versions of a service that answers were made from",
        serializers.VersionsSerializer,
        query=serializers.ADDRESSES["services"],
        also=[404],
    )
    def versions(self, request: Request) -> Response:
        query = self._query(serializers.ADDRESSES["services"])
        items = recall.versions(query["agency"], query["key"])
        return Response(serializers.VersionsSerializer({"items": items}).data)

    @operation(
        "list_answers",
        "Read which answers were made from a service",
        serializers.AnswersSerializer,
        query=serializers.AnswersQuerySerializer,
        also=[404],
    )
    def list(self, request: Request) -> Response:
        query = self._query(serializers.AnswersQuerySerializer)
        rows = recall.listed(query["agency"], query["key"], query.get("version", ""))
        if "before" in query:
            rows = rows.filter(reply_id__lt=query["before"])
        page = [*rows[: PAGE_SIZE + 1]]
        before = page[PAGE_SIZE - 1].reply_id if len(page) > PAGE_SIZE else None
        return Response(
            serializers.AnswersSerializer({"items": page[:PAGE_SIZE], "before": before}).data
        )

    def _query(self, serializer_class: Any) -> dict[str, Any]:
        query = self.query(serializer_class)
        if not works_for(self.user, query["agency"]):
            raise Http404
        return query


@extend_schema_view(
    list=operation("list_notices", "Read the notices", serializers.DirectivesSerializer)
)
class Notices(ListModelMixin, KnowledgeViewSet):
    serializer_class = serializers.DirectiveSerializer
    limit = PAGE_SIZE

    def get_queryset(self) -> Any:
        return notices.visible(self.user).order_by("-ends_at", "-pk")

    @operation(
        "add_notice",
        "Add a notice",
        serializers.DirectiveSerializer,
        "It applies at once: to new answers, and to what the stages are told.",
        body=serializers.DirectiveSerializer,
        status=201,
        also=[422],
    )
    def create(self, request: Request) -> Response:
        values = {
            "agency": "",
            "starts_at": timezone.now(),
            **self.validated(serializers.DirectiveSerializer),
        }
        return self._response(notice_services.add(**values, by=self.user), status=201)

    @operation(
        "end_notice", "End a notice now", serializers.DirectiveSerializer, also=[*WRITING, 404, 422]
    )
    def end(self, request: Request, pk: int) -> Response:
        if request.data:
            raise ParseError("Send no body, or an empty object.")
        return self._response(notice_services.end(directive_id=pk, by=self.user))

    def _response(self, notice: Any, status: int = 200) -> Response:
        return Response(serializers.DirectiveSerializer(notice).data, status=status)


app_name = "knowledge_api"


class Number(IntConverter):
    """A number that every database can look for."""

    regex = "[0-9]{1,9}"


register_converter(Number, "number")

_LIST: dict[str, Any] = {"get": "list"}
_RETRIEVE: dict[str, Any] = {"get": "retrieve"}
_ENTRY: dict[str, Any] = {"get": "retrieve", "put": "update", "delete": "destroy"}
_FILE: dict[str, Any] = {"get": "retrieve", "post": "create"}
_PROPOSAL, _PAGE_RUN = "proposals/<number:pk>/", "webpages/runs/<number:pk>/"

urlpatterns = [
    *(path(f"{t}/", view.as_view(_LIST), name=t) for t, view in VIEWS.items()),
    *(path(f"{t}/entry/", view.as_view(_ENTRY), name=f"{t}_entry") for t, view in VIEWS.items()),
    *(path(f"{t}/file/", view.as_view(_FILE), name=f"{t}_file") for t, view in FILES.items()),
    path(
        "dictionary/changes/",
        DictionaryChanges.as_view({"post": "create"}),
        name="dictionary_changes",
    ),
    path("standards/file/", StandardFiles.as_view({"post": "create"}), name="standards_file"),
    path("releases/", Releases.as_view(_LIST), name="releases"),
    path("releases/<number:number>/", Releases.as_view(_RETRIEVE), name="release"),
    path("proposals/", Proposals.as_view({**_LIST, "post": "create"}), name="proposals"),
    path(_PROPOSAL, Proposals.as_view(_RETRIEVE), name="proposal"),
    path(f"{_PROPOSAL}golden-run/", Proposals.as_view({"post": "golden_run"}), name="golden_run"),
    path(f"{_PROPOSAL}publish/", Proposals.as_view({"post": "publish"}), name="publish"),
    path(f"{_PROPOSAL}refuse/", Proposals.as_view({"post": "refuse"}), name="refuse"),
    path(f"{_PROPOSAL}withdraw/", Proposals.as_view({"post": "withdraw"}), name="withdraw"),
    path("try/", Trials.as_view({"post": "create"}), name="try"),
    path("versions/", Answers.as_view({"get": "versions"}), name="versions"),
    path("answers/", Answers.as_view(_LIST), name="answers"),
    path("gaps/", Gaps.as_view(_LIST), name="gaps"),
    path("gaps/<number:pk>/actions/", Gaps.as_view({"post": "create"}), name="gap_actions"),
    path(
        "webpages/<number:pk>/take/",
        WebPageEntries.as_view({"post": "take"}),
        name="webpage_take",
    ),
    path(
        "webpages/<number:pk>/leave/",
        WebPageEntries.as_view({"post": "leave"}),
        name="webpage_leave",
    ),
    path("webpages/", WebPages.as_view(_LIST), name="webpages"),
    path("webpages/<number:pk>/", WebPages.as_view(_RETRIEVE), name="webpage"),
    path("webpages/runs/", PageRuns.as_view({"post": "create"}), name="webpage_runs"),
    path("webpages/files/", SavedPages.as_view({"post": "create"}), name="webpage_files"),
    path(_PAGE_RUN, PageRuns.as_view(_RETRIEVE), name="webpage_run"),
    path(f"{_PAGE_RUN}pause/", PageRuns.as_view({"post": "pause"}), name="webpage_pause"),
    path(f"{_PAGE_RUN}resume/", PageRuns.as_view({"post": "resume"}), name="webpage_resume"),
    path("notices/", Notices.as_view({**_LIST, "post": "create"}), name="notices"),
    path("notices/<number:pk>/end/", Notices.as_view({"post": "end"}), name="end_notice"),
]
