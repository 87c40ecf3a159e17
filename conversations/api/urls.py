"""The API's addresses: which method of which resource is served where."""

from __future__ import annotations

from typing import Any

from django.urls import path, re_path

from conversations.api.views import Document, DocumentPage, Nothing, OneSession, OneTurn, Sessions

Actions = dict[str, Any]

app_name = "api"

_SESSION = "v1/sessions/<uuid:session_id>/"
_PERSON: Actions = {"get": "opening_hours", "post": "ask_for_person", "delete": "withdraw"}
_TURN = "v1/turns/<uuid:turn_id>/"
_MAIL: Actions = {"put": "ask_for_mail", "delete": "stop_mail"}
_ELSE: Actions = {"post": "something_else"}

urlpatterns = [
    path("v1/sessions/", Sessions.as_view(), name="sessions"),
    path(_SESSION, OneSession.as_view({"get": "read", "delete": "erase"}), name="session"),
    path(f"{_SESSION}export/", OneSession.as_view({"get": "export"}), name="export"),
    path(f"{_SESSION}export/html/", OneSession.as_view({"get": "export_html"}), name="export_html"),
    path(f"{_SESSION}turns/", OneSession.as_view({"post": "ask"}), name="turns"),
    path(f"{_SESSION}person/", OneSession.as_view(_PERSON), name="person"),
    path(_TURN, OneTurn.as_view({"get": "read"}), name="turn"),
    path(f"{_TURN}rating/", OneTurn.as_view({"put": "rate"}), name="rating"),
    path(f"{_TURN}checklist/", OneTurn.as_view({"put": "tick"}), name="checklist"),
    path(f"{_TURN}choice/", OneTurn.as_view({"put": "choose"}), name="choice"),
    path(f"{_TURN}mail/", OneTurn.as_view(_MAIL), name="mail"),
    path(f"{_TURN}something-else/", OneTurn.as_view(_ELSE), name="something_else"),
    path(f"{_TURN}safe/", OneTurn.as_view({"put": "say_safe"}), name="safe"),
    path("v1/schema/", Document.as_view(), name="schema"),
    path("v1/docs/", DocumentPage.as_view(), name="docs"),
    re_path(r"", Nothing.as_view()),
]
