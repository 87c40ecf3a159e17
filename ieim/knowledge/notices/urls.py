"""The addresses of notices."""

from __future__ import annotations

from django.urls import path

from ieim.knowledge.notices import views

app_name = "notices"

urlpatterns = [
    path("", views.notices, name="notices"),
    path("add/", views.add, name="add"),
    path("<int:notice>/end/", views.end, name="end"),
]
