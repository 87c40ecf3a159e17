"""The addresses of an import; those of what is published are in :mod:`.public`."""

from __future__ import annotations

from django.urls import path

from ieim.studio.standards import views

app_name = "standards"

urlpatterns = [
    path("", views.upload, name="upload"),
    path("preview/", views.preview, name="preview"),
]
