"""Every address of the site, and where staff go after they have logged in."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import include, path


def staff_home(request: HttpRequest) -> HttpResponse:
    """Send staff to their work: the queue, the knowledge, or else the admin.

    403 for whom nobody has given a role yet.
    """
    if not request.user.get_all_permissions():
        raise PermissionDenied
    if request.user.has_perm("review.view_reviewitem"):
        return redirect("review:queue")
    editor = request.user.has_perm("knowledge.view_release")
    return redirect("knowledge:home" if editor else "admin:index")


urlpatterns = [
    path("", include("conversations.urls")),
    path("", include("conversations.framing")),
    path("api/v1/review/", include("review.api.urls")),
    path("api/v1/knowledge/", include("ieim.studio.api.urls")),
    path("api/v1/administration/", include("ieim.administration.api")),
    path("api/", include("conversations.api.urls")),
    path("staff/login/", LoginView.as_view(), name="login"),
    path("staff/logout/", LogoutView.as_view(), name="logout"),
    path("staff/password/", include("ieim.people.resetting")),
    path("staff/rights/", include("ieim.people.views")),
    path("staff/tokens/", include("ieim.people.tokens.urls")),
    path("staff/", staff_home, name="staff_home"),
    path("review/", include("review.urls")),
    path("", include("ieim.studio.standards.publishing")),
    path("", include("ieim.administration.urls")),
    path("knowledge/standards/", include("ieim.studio.standards.views")),
    path("knowledge/try/", include("ieim.studio.trying.urls")),
    path("knowledge/recall/", include("ieim.studio.recall.urls")),
    path("knowledge/notices/", include("ieim.knowledge.notices.urls")),
    path("knowledge/", include("ieim.studio.pages.views")),
    path("admin/", admin.site.urls),
]
