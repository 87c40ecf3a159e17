"""Every address of the site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from ieim.config.views import staff_home

urlpatterns = [
    path("", include("conversations.urls")),
    path("", include("conversations.framing")),
    path("api/v1/review/", include("review.api.urls")),
    path("api/v1/knowledge/", include("ieim.studio.api.urls")),
    path("api/v1/administration/", include("ieim.administration.api")),
    path("api/", include("conversations.api.urls")),
    path("staff/login/", LoginView.as_view(), name="login"),
    path("staff/logout/", LogoutView.as_view(), name="logout"),
    path("staff/", staff_home, name="staff_home"),
    path("review/", include("review.urls")),
    path("", include("ieim.studio.standards.public")),
    path("", include("ieim.administration.urls")),
    path("knowledge/standards/", include("ieim.studio.standards.views")),
    path("knowledge/try/", include("ieim.studio.trying.urls")),
    path("knowledge/recall/", include("ieim.studio.recall.urls")),
    path("knowledge/notices/", include("ieim.knowledge.notices.urls")),
    path("knowledge/", include("ieim.studio.pages.views")),
    path("admin/", admin.site.urls),
]
