"""The API's address of the administration."""

from __future__ import annotations

from django.urls import path

from ieim.administration.api.views import OneAdministration

app_name = "administration_api"

urlpatterns = [path("", OneAdministration.as_view(), name="administration")]
