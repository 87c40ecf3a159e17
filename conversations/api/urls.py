"""The API's addresses."""

from __future__ import annotations

from django.urls import path, re_path

from conversations.api import docs, views
from conversations.mail.api import Mail
from conversations.person.api import Person

app_name = "api"

urlpatterns = [
    path("v1/sessions/", views.Sessions.as_view(), name="sessions"),
    path("v1/sessions/<uuid:session_id>/", views.OneSession.as_view(), name="session"),
    path("v1/sessions/<uuid:session_id>/turns/", views.Turns.as_view(), name="turns"),
    path("v1/sessions/<uuid:session_id>/person/", Person.as_view(), name="person"),
    path("v1/turns/<uuid:turn_id>/", views.OneTurn.as_view(), name="turn"),
    path("v1/turns/<uuid:turn_id>/rating/", views.OneRating.as_view(), name="rating"),
    path("v1/turns/<uuid:turn_id>/choice/", views.OneChoice.as_view(), name="choice"),
    path("v1/turns/<uuid:turn_id>/mail/", Mail.as_view(), name="mail"),
    path(
        "v1/turns/<uuid:turn_id>/something-else/",
        views.SomethingElse.as_view(),
        name="something_else",
    ),
    path("v1/schema/", docs.Document.as_view(), name="schema"),
    path("v1/docs/", docs.Page.as_view(), name="docs"),
    re_path(r"", views.Nothing.as_view()),
]
