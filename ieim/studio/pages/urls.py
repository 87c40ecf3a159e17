"""The editors' addresses."""

from __future__ import annotations

from django.urls import path

from ieim.studio.pages import content as content_views
from ieim.studio.pages import home as views
from ieim.studio.pages import proposals as proposal_views

app_name = "knowledge"

urlpatterns = [
    path("", views.home, name="home"),
    path("checks/", views.checks, name="checks"),
    path("checks/again/", views.check_again, name="check_again"),
    path("checks/summary/", views.checks_summary, name="checks_summary"),
    path("services/", content_views.services, name="services"),
    path("service/", content_views.service, name="draft_service"),
    path("differences/", content_views.differences, name="differences"),
    path("releases/", content_views.releases, name="releases"),
    path("releases/<int:number>/", content_views.release, name="release"),
    path("releases/<int:number>/service/", content_views.service, name="service"),
    path("releases/<int:number>/again/", proposal_views.again, name="again"),
    path("propose/", proposal_views.propose, name="propose"),
    path("proposals/<int:proposal>/", proposal_views.proposal, name="proposal"),
    path("proposals/<int:proposal>/publish/", proposal_views.publish, name="publish"),
    path("proposals/<int:proposal>/refuse/", proposal_views.refuse, name="refuse"),
    path("proposals/<int:proposal>/withdraw/", proposal_views.withdraw, name="withdraw"),
]
