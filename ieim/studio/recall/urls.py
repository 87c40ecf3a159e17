"""The addresses of a recall."""

from __future__ import annotations

from django.urls import path

from ieim.studio.recall import views

app_name = "recall"

urlpatterns = [
    path("", views.home, name="home"),
    path("service/", views.service, name="service"),
    path("service.csv", views.references, name="references"),
    path("write/", views.write, name="write"),
    path("send/", views.send, name="send"),
    path("corrections/<uuid:notice>/", views.notice, name="notice"),
]
