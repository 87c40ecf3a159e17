"""Taking what a web page says into the draft, and leaving it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.bodies import ClosedSerializer
from ieim.studio.api.schema import KnowledgeViewSet, operation
from ieim.studio.api.serializers import TextField
from ieim.studio.models import WebPage
from ieim.studio.webpages import accepting


class TakePageSerializer(ClosedSerializer):
    """What is taken of a web page, and into which entry."""

    sha256 = TextField(help_text="Of the page’s text that you have read.")
    kind = serializers.ChoiceField([*accepting.TABLES], default="service")
    texts = serializers.DictField(child=TextField(), help_text="By field, a list’s item a line.")
    into = TextField(default="", help_text="The key of an entry; blank: a new one.")
    version = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="What you have seen of it."
    )
    categories = serializers.ListField(child=TextField(), default=[], max_length=20)
    questions = serializers.ListField(child=TextField(), default=[], max_length=20)
    address = TextField(default="", help_text="Of a saved page on the web, if it has one.")


class LeavePageSerializer(ClosedSerializer):
    """Which page is left, or whether to take that back."""

    sha256 = TextField(help_text="Of the page’s text that you have read; blank: it has none.")
    undo = serializers.BooleanField(default=False)


class WebPageOutcomeSerializer(serializers.Serializer[Any]):
    """What has become of a web page, and the entry that it was taken into."""

    state = serializers.ChoiceField(WebPage.State.choices)
    table = serializers.CharField()
    entry = serializers.CharField()


class WebPageEntries(KnowledgeViewSet):
    @operation(
        "take_web_page",
        "Take what a web page says into the draft",
        WebPageOutcomeSerializer,
        "A category that the dictionary has not is added. 412 says that the page or the entry is "
        "another one now, or that the page is taken into another entry.",
        body=TakePageSerializer,
        also=[404, 412, 422],
    )
    def take(self, request: Request, pk: int) -> Response:
        accepting.take(page_id=pk, by=self.user, **self.validated(TakePageSerializer))
        return self._response(pk)

    @operation(
        "leave_web_page",
        "Leave a web page, of which nothing is taken, or undo that",
        WebPageOutcomeSerializer,
        "412 says that the page is another one now.",
        body=LeavePageSerializer,
        also=[404, 412, 422],
    )
    def leave(self, request: Request, pk: int) -> Response:
        accepting.leave(page_id=pk, by=self.user, **self.validated(LeavePageSerializer))
        return self._response(pk)

    def _response(self, pk: int) -> Response:
        return Response(WebPageOutcomeSerializer(WebPage.objects.get(pk=pk)).data)
