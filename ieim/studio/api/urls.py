"""The editors' addresses of the API."""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from ieim.studio.api import answers, releases, trials
from ieim.studio.api.entries import VIEWS
from ieim.studio.api.files.views import FILES, StandardFile

app_name = "knowledge_api"


class Number(IntConverter):
    """A number that every database can look for."""

    regex = "[0-9]{1,9}"


register_converter(Number, "number")

urlpatterns = [
    *(path(f"{table}/", listed.as_view(), name=table) for table, (listed, _) in VIEWS.items()),
    *(
        path(f"{table}/entry/", entry.as_view(), name=f"{table}_entry")
        for table, (_, entry) in VIEWS.items()
    ),
    *(
        path(f"{table}/file/", file.as_view(), name=f"{table}_file")
        for table, file in FILES.items()
    ),
    path("standards/file/", StandardFile.as_view(), name="standards_file"),
    path("releases/", releases.Releases.as_view(), name="releases"),
    path("releases/<number:number>/", releases.OneRelease.as_view(), name="release"),
    path("proposals/", releases.Proposals.as_view(), name="proposals"),
    path("proposals/<number:pk>/", releases.OneProposal.as_view(), name="proposal"),
    path("proposals/<number:pk>/golden-run/", trials.StartGoldenRun.as_view(), name="golden_run"),
    path("try/", trials.Try.as_view(), name="try"),
    path("versions/", answers.Versions.as_view(), name="versions"),
    path("answers/", answers.Answers.as_view(), name="answers"),
    path("notices/", answers.Notices.as_view(), name="notices"),
    path("notices/<number:pk>/end/", answers.EndNotice.as_view(), name="end_notice"),
    path("proposals/<number:pk>/publish/", releases.Publish.as_view(), name="publish"),
    path("proposals/<number:pk>/refuse/", releases.Refuse.as_view(), name="refuse"),
    path("proposals/<number:pk>/withdraw/", releases.Withdraw.as_view(), name="withdraw"),
]
