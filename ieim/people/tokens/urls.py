"""The addresses of tokens."""

from __future__ import annotations

from django.urls import path

from ieim.people.tokens import views

app_name = "tokens"

urlpatterns = [
    path("", views.tokens, name="tokens"),
    path("make/", views.make, name="make"),
    path("<uuid:token>/revoke/", views.revoke, name="revoke"),
]
