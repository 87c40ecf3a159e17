"""The editors' addresses of the API."""

from __future__ import annotations

from typing import Any

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from ieim.studio.api.entries import VIEWS
from ieim.studio.api.files import FILES, StandardFile
from ieim.studio.api.views import Answers, Notices, Proposals, Releases, Trials

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
