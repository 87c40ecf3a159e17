"""Accounts and roles in Django's admin, for superusers.

What enforces the rule and records the change is :func:`ieim.people.services.changing` around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth import admin as stock
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from ieim.people import reauthentication
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.services import changing, changing_role

if TYPE_CHECKING:
    StockUserAdmin = stock.UserAdmin[User]
    AnyAdmin = admin.ModelAdmin[Any]
else:
    StockUserAdmin, AnyAdmin = stock.UserAdmin, admin.ModelAdmin

admin.site.unregister(Group)
# The rows of allauth change by logging in, not by a form without a rule.
for model in apps.get_models():
    if model.__module__.startswith("allauth.") and admin.site.is_registered(model):
        admin.site.unregister(model)


class RecordedAdmin(AnyAdmin):
    """Add, change and delete inside ``changing``, for superusers only."""

    changing: Callable[..., Any] = staticmethod(changing)

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return member(request).is_superuser

    has_module_permission = has_view_permission = has_add_permission = _is_superuser
    has_change_permission = has_delete_permission = _is_superuser

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with self.changing(obj.pk, by=member(request)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete all rows or none."""
        with self.changing(*queryset.values_list("pk", flat=True), by=member(request)):
            super().delete_queryset(request, queryset)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save a row, and have a new one checked with the changes of this request."""
        super().save_model(request, obj, form, change)
        request._pks.append(obj.pk)  # type: ignore[attr-defined]  # of changeform_view

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        if request.method != "POST":
            return super().changeform_view(request, object_id, *args, **kwargs)
        stored = None if object_id is None else self.get_object(request, unquote(object_id))
        with self.changing(*([stored.pk] if stored else []), by=member(request)) as pks:
            request._pks = pks  # type: ignore[attr-defined]  # the admin passes nothing else
            return super().changeform_view(request, object_id, *args, **kwargs)


@admin.register(User)
class UserAdmin(RecordedAdmin, StockUserAdmin):
    """Accounts with their flags and permissions; :mod:`ieim.people.staff` has the rest."""

    # Without is_staff, on which no rule depends: a role is enough to open the admin.
    fieldsets = (
        (None, {"fields": ("username", "password", "first_name", "last_name", "email")}),
        (None, {"fields": ("is_active", "is_superuser", "groups", "user_permissions")}),
    )
    list_display = ("username", "first_name", "last_name", "email", "is_active")
    list_filter = ("is_active", "groups", "is_superuser")

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whether the user may delete an account, never their own."""
        user = member(request)
        return user.is_superuser and (obj is None or obj.pk != user.pk)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the page for a new account, whose owner sets the password."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect("people:new")

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Show or save an account; another address needs a fresh login."""
        user = None if object_id is None else self.get_object(request, unquote(object_id))
        if request.method == "POST" and user and user.email != request.POST.get("email"):
            reauthentication.require(request)
        return super().changeform_view(request, object_id, *args, **kwargs)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002  # the admin's name
        """Redirect to the page that has a link for the owner: nobody sets another's password."""
        user = self.get_object(request, unquote(id))
        if user is None or not self.has_change_permission(request, user):
            raise PermissionDenied
        return redirect("people:account", user.pk)


@admin.register(Group)
class RoleAdmin(RecordedAdmin, stock.GroupAdmin):
    """Roles: what each may do."""

    changing = staticmethod(changing_role)
