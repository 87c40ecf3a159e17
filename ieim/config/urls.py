"""Every address of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("conversations.urls")),
    path("staff/", include("review.urls")),
    path("admin/", admin.site.urls),
]
