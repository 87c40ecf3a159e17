"""The addresses of the settings, and of the colours and the logo that pages fetch."""

from __future__ import annotations

from django.urls import path

from ieim.administration import views

app_name = "administration"

urlpatterns = [
    path("settings/", views.settings, name="settings"),
    path("settings/colours.css", views.preview_colours, name="preview_colours"),
    path("settings/<slug:section_name>/", views.save, name="save"),
    path("settings/<slug:section_name>/preview/", views.preview, name="preview"),
    path("own/colours.css", views.colours, name="colours"),
    path("own/logo/<str:sha256>/", views.logo, name="logo"),
]
