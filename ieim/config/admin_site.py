"""The admin's own addresses: what of them is ours, and what is not served at all.

There is one door: the admin's own form would take a password without asking for a second factor.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest
from django.urls import reverse


class StaffSite(AdminSite):
    """Opens to whoever has any permission, records new passwords, looks for nothing with a NUL in
    it, and has no shortcut to "the page of" an object.

    No model here has such a page; for an id of another kind than its table's, that shortcut fails.
    """

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether somebody may open the admin at all: a role is enough, there is no second tick."""
        user: Any = request.user
        return bool(user.is_active and (user.is_superuser or user.get_all_permissions()))

    def get_urls(self) -> list[Any]:
        """Return the addresses; the one that is left out falls to the catch-all, a 404."""
        return [url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"]

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Return the view, guarded. Forms refuse a NUL with a sentence; what is looked up before
        there is a form would be an error of PostgreSQL's."""
        guarded = super().admin_view(view, cacheable)

        @wraps(guarded)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            chosen = [value for _, values in request.GET.lists() for value in values]
            if any("\0" in text for text in chosen + request.POST.getlist(ACTION_CHECKBOX_NAME)):
                raise BadRequest("A NUL is no part of any filter or id.")
            # Django would show a login page to somebody who has logged in.
            leaving = request.path == reverse("admin:logout")
            if request.user.is_authenticated and not leaving and not self.has_permission(request):
                raise PermissionDenied
            return guarded(request, *args, **kwargs)

        return wrapper

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Lead to where everybody logs in."""
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME, reverse("admin:index")))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Leave by the one door."""
        from ieim.people.login import LogoutView  # models: not there when the site is made

        return LogoutView.as_view()(request)

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Show or save one's own password."""
        from ieim.people.services import changing  # models: not there when the site is made

        user: Any = request.user
        with changing(user.pk, by=user):
            return super().password_change(request, extra_context)
