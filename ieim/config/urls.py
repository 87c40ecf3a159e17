"""Every address of the site, and where staff go after they have logged in."""

from __future__ import annotations

from allauth.account.views import reauthenticate
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import include, path

from ieim.people import languages, openid, passwords, sessions
from ieim.people.login import LoginView, LogoutView


def staff_home(request: HttpRequest) -> HttpResponse:
    """Redirect staff to their work: the record, the queue, the knowledge, people, or else the
    admin.

    An account that reads the record and decides nothing is an auditor's.

    403 for an account without a role.
    """
    if not request.user.get_all_permissions():
        raise PermissionDenied
    decides = request.user.has_perm("review.decide_reviewitem")
    if request.user.has_perm("audit.view_auditevent") and not decides:
        return redirect("audit:events")
    if request.user.has_perm("review.view_reviewitem"):
        return redirect("review:queue")
    if request.user.has_perm("knowledge.view_release"):
        return redirect("knowledge:home")
    looks_after_people = request.user.has_perm("people.view_user")
    return redirect("people:accounts" if looks_after_people else "admin:index")


urlpatterns = [
    path("", include("conversations.urls")),
    path("", include("conversations.framing")),
    path("api/v1/review/", include("review.api.views")),
    path("api/v1/knowledge/", include("ieim.studio.api.views")),
    path("api/v1/administration/", include("ieim.administration.api")),
    path("api/", include("conversations.api.urls")),
    path("staff/login/", LoginView.as_view(), name="login"),
    path("staff/login/", LoginView.as_view(), name="account_login"),  # as allauth calls it
    path("staff/login/openid/", openid.begin, name="openid_begin"),
    path("staff/login/openid/callback/", openid.callback, name="openid_callback"),
    path("staff/login/openid/logout/", openid.back_channel_logout, name="openid_logout"),
    path("staff/logout/", LogoutView.as_view(), name="logout"),
    path("staff/logout/", LogoutView.as_view(), name="account_logout"),
    path("staff/password/", passwords.PasswordResetView.as_view(), name="password_reset"),
    path(
        "staff/password/sent/",
        passwords.PasswordResetDoneView.as_view(),
        name="password_reset_done",
    ),
    path(
        "staff/password/<uidb64>/<token>/",
        passwords.PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path("staff/sessions/", sessions.session_list, name="sessions"),
    path("staff/languages/", languages.save_languages, name="languages"),
    path("staff/factors/", include("allauth.mfa.urls")),
    path("staff/factors/password/", reauthenticate, name="account_reauthenticate"),
    path("staff/people/", include("ieim.people.staff.views")),
    path("staff/tokens/", include("ieim.people.tokens.views")),
    path("staff/", staff_home, name="staff_home"),
    path("review/", include("review.urls")),
    path("audit/", include("review.auditing.views")),
    path("", include("ieim.studio.standards.publishing")),
    path("", include("ieim.administration.views")),
    path("knowledge/standards/", include("ieim.studio.standards.views")),
    path("knowledge/try/", include("ieim.studio.trying.views")),
    path("knowledge/gaps/", include("ieim.studio.gaps.views")),
    path("knowledge/dictionary/", include("ieim.studio.dictionary.views")),
    path("knowledge/drafting/", include("ieim.studio.drafting.views")),
    path("knowledge/translations/", include("ieim.studio.translating.views")),
    path("knowledge/recall/", include("ieim.studio.recall.views")),
    path("knowledge/fresh/", include("ieim.studio.fresh.views")),
    path("knowledge/webpages/", include("ieim.studio.webpages.views")),
    path("knowledge/notices/", include("ieim.knowledge.notices.views")),
    path("knowledge/", include("ieim.studio.pages.views")),
    path("knowledge/", include("ieim.studio.editor.views")),
    path("admin/", admin.site.urls),
]
