"""Permissions by address: one table for pages and REST.

It maps the name of an address to the permission that opens it;
:data:`ieim.people.roles.PERMISSIONS` gives each role its permissions. An address that is not listed
is refused to everybody, and ``tests/review/test_matrix.py`` fails on one. The addresses of Django's
admin are not in the table: its site checks the permissions of each model.

Access to a single object also depends on its agency (``review/scope``, :mod:`ieim.people.scope`),
its claim (``review/claims``) and its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme

from ieim.people import factors, reauthentication
from ieim.people.models import User
from ieim.people.roles import PERMISSIONS, Role

EVERYBODY = "everybody"
"""Citizens: no login."""
BEARER = "bearer"
"""Integrators: the bearer token of a session, no login."""
STAFF = "staff"
"""Every user who has logged in, whatever their role."""

_SEE, _DECIDE = "review.view_reviewitem", "review.decide_reviewitem"
_SUPERVISE = "review.supervise_reviewitem"
_READ, _EDIT = "studio.view_service", "studio.change_service"
_RELEASES, _TRY = "knowledge.view_release", "studio.add_goldenrun"
_PROPOSE, _PUBLISH = "studio.add_proposal", "studio.publish_proposal"
_GAPS = "studio.add_gapaction"
_SET = "administration.change_section"
_RECALL, _CORRECT = "conversations.view_citation", "conversations.add_correctionnotice"
_TABLES = (
    *("agencies", "dictionary", "services", "labels", "translations"),
    *("help_lines", "risk_examples", "texts", "situations", "questions"),
)
"""The tables of the draft, as REST calls them."""

_SECOND_FACTOR = (
    *("mfa_index", "mfa_activate_totp", "mfa_deactivate_totp"),
    *("mfa_list_webauthn", "mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn"),
    *("mfa_view_recovery_codes", "mfa_generate_recovery_codes", "mfa_download_recovery_codes"),
    *("mfa_reauthenticate", "mfa_reauthenticate_webauthn", "account_reauthenticate"),
)
"""Allauth's pages of the user's second factors, open also while the role still needs one."""
_ADDS_FACTOR = frozenset({"mfa_activate_totp", "mfa_add_webauthn"})


def _all(namespace: str, permission: str, names: str) -> dict[str, str]:
    return {f"{namespace}:{name}": permission for name in names.split()}


ACCESS: Mapping[str, str] = {
    **_all("conversations", EVERYBODY, "chat ask rate tick choose something_else safe start_again"),
    **_all("conversations", EVERYBODY, "resume export export_json"),
    **_all("conversations", EVERYBODY, "delete help accessibility privacy language offline worker"),
    **_all("conversations", EVERYBODY, "person person_withdraw private_link"),
    **_all("conversations", EVERYBODY, "mail mail_stop mail_link mail_link_stop"),
    **_all("api", EVERYBODY, "docs schema sessions"),
    **_all("api", BEARER, "session turns turn rating checklist choice something_else safe"),
    **_all("api", BEARER, "person mail export export_html"),
    **_all("framing", EVERYBODY, "script"),
    **_all("published", EVERYBODY, "services services_cpsv services_turtle service hsds"),
    **_all("published", EVERYBODY, "hsds_services hsds_service hsds_organizations"),
    **_all("administration", EVERYBODY, "colours logo security"),
    "administration_api:administration": EVERYBODY,
    **_all("administration", _SET, "settings save preview preview_colours"),
    **dict.fromkeys(("login", "account_login", "logout", "account_logout"), EVERYBODY),
    **dict.fromkeys(
        ("openid_begin", "openid_callback", "openid_logout", "mfa_authenticate"), EVERYBODY
    ),
    **dict.fromkeys(_SECOND_FACTOR, STAFF),
    **{f"password_reset{step}": EVERYBODY for step in ("", "_done", "_confirm")},
    **dict.fromkeys(("staff_home", "sessions", "languages"), STAFF),
    **_all("people", "people.view_user", "accounts account"),
    "people:new": "people.add_user",
    **_all("people", "people.change_user", "link factors sessions"),
    **_all("tokens", "people.view_token", "tokens revoke"),
    "tokens:make": "people.add_token",
    **_all("review", _SEE, "queue queue_changes save_view item feedback mentions timeline"),
    **_all(
        "review", _DECIDE, "golden bulk claim held renew release preview decide check note snooze"
    ),
    **_all(
        "review",
        _DECIDE,
        "services answer next sign undo talk talk_begin talk_say talk_end feedback_item",
    ),
    **_all("review", _DECIDE, "batch batch_status batch_undo"),
    **_all("review", _DECIDE, "replies insert translate"),
    "review:similar": _SEE,
    **_all("review", _SUPERVISE, "take_over board share"),
    **_all("review", _DECIDE, "absence"),
    **_all("review", _SEE, "board_alerts"),
    **_all("review", "review.view_metrics", "metrics metrics_csv"),
    **_all("review", _DECIDE, "samples next_sample sample add_sample answers"),
    "review:draw_samples": _SUPERVISE,
    **_all("audit", "audit.view_auditevent", "events chain download"),
    **_all("review_api", _SEE, "items item views view notes mentions timeline presence groups"),
    **_all("review_api", _DECIDE, "claim release decide talk messages snooze batches batch"),
    **_all(
        "review_api", _DECIDE, "samples next_sample sample sample_translation add_sample answers"
    ),
    "review_api:draw_samples": _SUPERVISE,
    "review_api:quality": "review.view_metrics",
    **_all("review_api", _DECIDE, "replies reply translation"),
    "review_api:similar": _SEE,
    **_all("review_api", _SUPERVISE, "board share"),
    "review_api:absence": _DECIDE,
    **_all("knowledge", _RELEASES, "home checks check_again checks_summary services"),
    **_all("knowledge", _RELEASES, "differences releases release service proposal"),
    **_all("knowledge", _RELEASES, "proposals comment"),
    **_all(
        "knowledge",
        _PROPOSE,
        "again propose withdraw propose_set begin_set take take_into leave_out",
    ),
    **_all("knowledge", _PROPOSE, "restore"),
    **_all("knowledge", _PUBLISH, "publish refuse alone"),
    **_all("editor", _READ, "agency category service situation translation"),
    **_all("editor", _EDIT, "new_agency new_category new_service new_situation"),
    "dictionary:home": _READ,
    **_all("dictionary", _EDIT, "merge split"),
    **_all("editor", _EDIT, "delete_agency delete_category delete_service delete_situation"),
    **_all("standards", _EDIT, "upload preview"),
    **_all("drafting", _EDIT, "home start start_stale run accept"),
    "translating:translations": _RELEASES,
    "translating:confirm": _EDIT,
    **_all("trying", _TRY, "playground golden start"),
    **_all("trying", _EDIT, "questions question_add question_remove"),
    **_all("gaps", _GAPS, "home group act services"),
    **_all("fresh", _READ, "services links"),
    **_all("fresh", _EDIT, "entry check_links"),
    **_all("webpages", _EDIT, "home pages pause resume take leave restore"),
    "webpages:page": _READ,
    **_all("recall", _RECALL, "home references"),
    **_all("recall", _CORRECT, "correct resume"),
    "notices:notices": "knowledge.view_directive",
    "notices:add": "knowledge.add_directive",
    "notices:end": "knowledge.change_directive",
    **{f"knowledge_api:{table}": _READ for table in _TABLES},
    **{f"knowledge_api:{table}_entry": _EDIT for table in _TABLES},
    **{f"knowledge_api:{table}_file": _READ for table in _TABLES},
    **_all("knowledge_api", _EDIT, "dictionary_changes standards_file"),
    **_all("knowledge_api", _EDIT, "webpage_take webpage_leave"),
    **_all("knowledge_api", _RELEASES, "releases release proposals proposal"),
    **_all("knowledge_api", _PUBLISH, "publish refuse"),
    "knowledge_api:withdraw": _PROPOSE,
    **_all("knowledge_api", _TRY, "golden_run try"),
    **_all("knowledge_api", _RECALL, "versions answers"),
    **_all("knowledge_api", _GAPS, "gaps gap_actions"),
    **_all("knowledge_api", _EDIT, "webpages webpage webpage_runs webpage_files"),
    **_all("knowledge_api", _EDIT, "webpage_run webpage_pause webpage_resume"),
    "knowledge_api:notices": "knowledge.view_directive",
    "knowledge_api:end_notice": "knowledge.change_directive",
}
"""The permission that opens an address, or one of the words above."""
CHANGES: Mapping[str, str] = {
    "people:account": "people.change_user",
    "review_api:notes": _DECIDE,
    "knowledge_api:notices": "knowledge.add_directive",
    "dictionary:home": _EDIT,
    "knowledge_api:proposals": _PROPOSE,
    **_all("editor", _EDIT, "agency category service situation translation"),
    **{f"knowledge_api:{table}_file": _EDIT for table in _TABLES},
}
"""The permission for changes at an address that more roles may read."""
_READS = ("GET", "HEAD", "OPTIONS")
_APIS = ("api:", "knowledge_api:", "review_api:")
_NOTHING = "api:conversations.api.views.Nothing"
"""All other addresses of the API: without a name, and always 404."""


def required_permission(name: str, method: str = "GET") -> str | None:
    """Return the permission for an address by its name, None for one that is not listed."""
    if method not in _READS and name in CHANGES:
        return CHANGES[name]
    return ACCESS.get(name)


def roles(name: str, method: str = "GET") -> frozenset[Role]:
    """Return the roles that open an address for staff."""
    permission = required_permission(name, method)
    return frozenset(
        role for role in Role if permission == STAFF or permission in PERMISSIONS[role]
    )


def allows(user: User | AnonymousUser, name: str, method: str = "GET") -> bool:
    """Whether a user, logged in or not, may open an address."""
    permission = required_permission(name, method)
    if permission in (EVERYBODY, BEARER):
        return True
    if permission is None or not user.is_authenticated:
        return False
    return permission == STAFF or user.has_perm(permission)


def member(request: HttpRequest) -> User:
    """Return the user who has logged in. Raises PermissionDenied for anybody else, whom
    :class:`AccessMiddleware` lets open no page of staff."""
    user = request.user
    if not isinstance(user, User):
        raise PermissionDenied
    return user


class AccessMiddleware(MiddlewareMixin):
    """Apply the table before a view runs.

    A request without a login is redirected to it; others get 403, and so does everybody at an
    address that is not listed. REST reads the same table and answers in its own format; the site of
    the admin has its own checks.
    """

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        """Return a redirect to the login, or None to let the view run. Raises PermissionDenied."""
        name = request.resolver_match.view_name if request.resolver_match else ""
        if required_permission(name) not in (EVERYBODY, BEARER) and factors.missing(request):
            if name not in _SECOND_FACTOR:
                return _to_second_factor(request, name)
            request.factor_missing = True  # type: ignore[attr-defined]  # for the page
        if name in _ADDS_FACTOR and (response := reauthentication.at_provider(request)):
            return response
        if name.startswith("admin:") or allows(request.user, name, request.method or ""):
            return None
        listed = name in ACCESS or name == _NOTHING
        if listed and name.startswith(_APIS):
            return None
        if not listed or request.user.is_authenticated:
            raise PermissionDenied
        return to_login(request)


def to_login(request: HttpRequest) -> HttpResponse:
    """Redirect to the login, and from there to the page that somebody wanted, or had a form of."""
    login = redirect_to_login(_return_url(request))
    if not request.headers.get("HX-Request"):
        return login
    # A redirected fragment would show the whole login page within the page.
    if request.method == "GET":
        return HttpResponse(headers={"HX-Redirect": login.url})  # the whole page follows
    return render(request, "registration/_parts.html#logged_out", {"login": login.url})


def _to_second_factor(request: HttpRequest, name: str) -> HttpResponse:
    if name.startswith(_APIS):
        raise PermissionDenied
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": resolve_url("mfa_index")})
    return redirect("mfa_index")


def _return_url(request: HttpRequest) -> str:
    """Return the page to open after the login: for a form or a fragment, the page around it."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    if request.method in ("GET", "HEAD") and not request.headers.get("HX-Request"):
        return request.get_full_path()
    if url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    ):
        return urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl()
    return resolve_url(settings.LOGIN_REDIRECT_URL)
