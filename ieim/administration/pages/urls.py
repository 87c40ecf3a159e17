"""The addresses of the settings, and of what pages fetch of them."""

from __future__ import annotations

from django.urls import path

from ieim.administration.pages import served, views

app_name = "administration"

urlpatterns = [
    path("settings/", views.settings, name="settings"),
    path("settings/colours.css", served.preview_colours, name="preview_colours"),
    path("settings/<slug:section_name>/", views.save, name="save"),
    path("settings/<slug:section_name>/preview/", views.preview, name="preview"),
    path("own/colours.css", served.colours, name="colours"),
    path("own/logo/<str:sha256>/", served.logo, name="logo"),
]
