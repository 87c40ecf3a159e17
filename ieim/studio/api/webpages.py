"""Web pages that entries are made from, and the runs that read them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer
from ieim.knowledge.bundles.columns import ID_LIMIT, LINK_LIMIT
from ieim.people.models import User
from ieim.studio.api.files import FileParser, FileViewSet
from ieim.studio.api.schema import WRITING, KnowledgeViewSet, operation
from ieim.studio.models import PageRun, WebPage
from ieim.studio.webpages import selectors, services
from ieim.studio.webpages.uploads import MAX_PAGES

PAGE_SIZE = 100
MAX_NAME = 300
MAX_PACKED = 64 * 2**20
"""Bytes of a file."""
SAVED_TYPES = ("text/html", "application/xhtml+xml", "application/zip")


class ReadPagesSerializer(ClosedSerializer):
    """Addresses of pages, or of a sitemap, for the entries of an agency."""

    agency = serializers.CharField(max_length=ID_LIMIT)
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=LINK_LIMIT), required=False, max_length=MAX_PAGES
    )
    sitemap = serializers.CharField(max_length=LINK_LIMIT, required=False)


class SavedPagesQuerySerializer(ClosedSerializer):
    """For whose entries saved pages are, and what their file is called."""

    agency = serializers.CharField(max_length=ID_LIMIT)
    name = serializers.CharField(max_length=MAX_NAME, help_text="Such as `services.zip`.")


class SavedPagesParser(FileParser):
    """A saved page, or a ZIP of them."""

    limit = MAX_PACKED
    accepted = frozenset(SAVED_TYPES)


class PageRunSerializer(serializers.ModelSerializer[PageRun]):
    """How far a run is: ``due`` pages are still to be read."""

    due = serializers.IntegerField()

    class Meta:
        model = PageRun
        fields = ("id", "agency", "state", "is_paused", "done", "total", "due", "note", "error")
        read_only_fields = fields


class WebPageSerializer(serializers.ModelSerializer[WebPage]):
    """A page, and what became of it."""

    class Meta:
        model = WebPage
        fields: tuple[str, ...] = (
            *("id", "run", "agency", "address", "state", "is_due", "problem", "title", "language"),
            *("read_at", "table", "entry", "changes"),
        )
        read_only_fields = fields


class FullWebPageSerializer(WebPageSerializer):
    """A page with its text, and what was drafted from it (draft_entry_v1 with ``by``)."""

    class Meta(WebPageSerializer.Meta):
        fields = (*WebPageSerializer.Meta.fields, "text", "sha256", "draft", "rests_on")
        read_only_fields = fields


class WebPagesQuerySerializer(ClosedSerializer):
    """Which pages; what is left out leaves nothing out."""

    agency = serializers.CharField(max_length=ID_LIMIT, required=False)
    state = serializers.ChoiceField(WebPage.State.values, required=False)
    after = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31, help_text="As `next` has it."
    )


@extend_schema_serializer(many=False)
class WebPagesSerializer(serializers.Serializer[Any]):
    """Pages in the order in which they were given."""

    items = WebPageSerializer(many=True)
    next = serializers.IntegerField(allow_null=True, help_text="Where the next ones are.")


class WebPages(KnowledgeViewSet):
    """The pages of the user's agencies."""

    @operation(
        "list_web_pages",
        "Read which web pages were read, and what became of them",
        WebPagesSerializer,
        query=WebPagesQuerySerializer,
    )
    def list(self, request: Request) -> Response:
        query = self.query(WebPagesQuerySerializer)
        rows = self.get_queryset().filter(pk__gt=query.pop("after", 0), **query)
        pages = [*rows[: PAGE_SIZE + 1]]
        following = pages[PAGE_SIZE - 1].pk if len(pages) > PAGE_SIZE else None
        answer = WebPagesSerializer({"items": pages[:PAGE_SIZE], "next": following})
        return Response(answer.data)

    @operation("read_web_page", "Read a web page", FullWebPageSerializer, also=[404])
    def retrieve(self, request: Request, pk: int) -> Response:
        return Response(FullWebPageSerializer(self.get_object()).data)

    def get_queryset(self) -> Any:
        return selectors.visible(self.user)


class PageRuns(KnowledgeViewSet):
    """The runs of the user's agencies."""

    @operation(
        "read_web_pages",
        "Let web pages be read",
        PageRunSerializer,
        "A worker reads and drafts them one by one; 422 says what is wrong with the addresses.",
        body=ReadPagesSerializer,
        status=202,
        also=[422],
    )
    def create(self, request: Request) -> Response:
        body = self.validated(ReadPagesSerializer)
        return self._answer(services.start(**body, by=self.user), 202)

    @operation("read_page_run", "Read how far a run is", PageRunSerializer, also=[404])
    def retrieve(self, request: Request, pk: int) -> Response:
        return self._answer(self.get_object())

    @operation("pause_page_run", "Pause a run", PageRunSerializer, also=[*WRITING, 404])
    def pause(self, request: Request, pk: int) -> Response:
        services.pause(run=self._run(), by=self.user)
        return self._answer(self.get_object())

    @operation("resume_page_run", "Go on with a run", PageRunSerializer, also=[*WRITING, 404])
    def resume(self, request: Request, pk: int) -> Response:
        services.resume(run=self._run(), by=self.user)
        return self._answer(self.get_object())

    def get_queryset(self) -> Any:
        return selectors.visible_runs(self.user)

    def _run(self) -> PageRun:
        if self.request.data:
            raise ParseError("Send no body, or an empty object.")
        run: PageRun = self.get_object()
        return run

    def _answer(self, run: PageRun, status: int = 200) -> Response:
        return _answer(self.user, run, status)


class SavedPages(FileViewSet):
    """A file of saved pages."""

    parser_classes = [SavedPagesParser]

    @operation(
        "read_saved_pages",
        "Let saved pages be read",
        PageRunSerializer,
        "HTML, or a ZIP of it; 422 says what is wrong with it.",
        query=SavedPagesQuerySerializer,
        body=dict.fromkeys(SAVED_TYPES, OpenApiTypes.BINARY),
        status=202,
        also=[422],
    )
    def create(self, request: Request) -> Response:
        query = self.query(SavedPagesQuerySerializer)
        files = [(query["name"], self.upload().data)]
        run = services.start(agency=query["agency"], files=files, by=self.user)
        return _answer(self.user, run, 202)


def _answer(user: User, run: PageRun, status: int) -> Response:
    stored = selectors.visible_runs(user).get(pk=run.pk)
    return Response(PageRunSerializer(stored).data, status=status)
