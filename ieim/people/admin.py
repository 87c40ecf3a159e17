"""Accounts, roles and agency scopes in Django's admin.

The forms leave out what the user may not change; what enforces the rule and records the change is
:func:`ieim.people.services.changing` around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from allauth.usersessions.models import UserSession
from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth import admin as stock
from django.contrib.auth.forms import UserCreationForm, UsernameField
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import ManyToManyField, QuerySet
from django.http import HttpRequest
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, gettext_lazy

from ieim.people import factors, passwords, reauthentication, sessions
from ieim.people.access import member
from ieim.people.accounts import account_of, assignable_groups, refusal
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.scope import known_agencies
from ieim.people.services import changing, changing_role

if TYPE_CHECKING:
    StockUserAdmin = stock.UserAdmin[User]
    ScopeModelAdmin = admin.ModelAdmin[AgencyScope]
    AnyAdmin = admin.ModelAdmin[Any]
    ScopeModelForm = forms.ModelForm[AgencyScope]
    UserModelForm = forms.ModelForm[User]
else:
    StockUserAdmin, ScopeModelAdmin, ScopeModelForm = (
        stock.UserAdmin,
        admin.ModelAdmin,
        forms.ModelForm,
    )
    AnyAdmin, UserModelForm = admin.ModelAdmin, forms.ModelForm

admin.site.unregister(Group)
# The rows of allauth change by logging in, not by a form without a rule.
for model in apps.get_models():
    if model.__module__.startswith("allauth.") and admin.site.is_registered(model):
        admin.site.unregister(model)

_SUPERUSER_FIELDS = frozenset({"is_superuser", "user_permissions"})
_UNUSED_FIELDS = frozenset({"is_staff"})
"""No rule depends on it: a role is enough to open the admin."""


def _may(request: HttpRequest, pk: int, *, all_of_it: bool) -> bool:
    """Whether the user may change an account, or even all of it."""
    account = account_of(pk)
    return not refusal(member(request), account, None if all_of_it else account)


def _may_scope(request: HttpRequest, pk: int) -> bool:
    """Whether the user may change the agencies that accounts work for."""
    return member(request).is_superuser or _may(request, pk, all_of_it=True)


class RecordedDeletion(AnyAdmin):
    """Delete inside ``changing``, of the accounts or roles in ``column``."""

    changing: Callable[..., Any] = staticmethod(changing)
    column = "pk"

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with self.changing(getattr(obj, self.column), by=member(request)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete all rows or none."""
        with self.changing(*queryset.values_list(self.column, flat=True), by=member(request)):
            super().delete_queryset(request, queryset)


class RecordedAdmin(RecordedDeletion):
    """Add, change and delete inside ``changing``."""

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


class UserAddForm(UserModelForm):
    """A new account. Its owner chooses the password by a link to their address."""

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name", "email")
        field_classes = {"username": UsernameField}

    clean_username = UserCreationForm.clean_username

    def save(self, commit: bool = True) -> User:
        """Save the account without a usable password."""
        self.instance.set_unusable_password()
        return super().save(commit)


@admin.register(User)
class UserAdmin(RecordedAdmin, StockUserAdmin):
    """Accounts and their roles."""

    add_form = UserAddForm
    add_form_template = None
    add_fieldsets = ((None, {"fields": UserAddForm.Meta.fields}),)
    readonly_fields = ("last_login", "date_joined")
    list_display = ("username", "first_name", "last_name", "email", "is_active")
    list_filter = ("is_active", "groups", "is_superuser")
    actions = ("remove_factors", "end_sessions")

    @admin.action(description=gettext_lazy("Take away second factors, for who has lost theirs"))
    def remove_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Remove the second factors of others; users remove their own on allauth's pages."""
        reauthentication.require(request)
        by = member(request)
        self._apply(request, queryset, lambda user: factors.remove(user, by=by))

    @admin.action(description=gettext_lazy("End all sessions"))
    def end_sessions(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by = member(request)

        def end(user: User) -> int:
            rows = UserSession.objects.filter(user=user)
            return sessions.end(rows, user=user, reason="revoked", by=by)

        self._apply(request, queryset, end)

    def _apply(
        self, request: HttpRequest, queryset: QuerySet[User], action: Callable[[User], int]
    ) -> None:
        """Apply an action to the accounts that the rule allows, never to the user's own."""
        others = queryset.exclude(pk=member(request).pk)
        users = [user for user in others if _may(request, user.pk, all_of_it=True)]
        names = ", ".join(user.get_username() for user in users if action(user))
        names = names or gettext("nobody")
        self.message_user(request, gettext("Done for: {names}.").format(names=names))

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Return the form's parts, without unused fields and those that only superusers change."""
        is_superuser = member(request).is_superuser
        hidden = _UNUSED_FIELDS if is_superuser else _UNUSED_FIELDS | _SUPERUSER_FIELDS
        return [
            (name, {**part, "fields": [field for field in part["fields"] if field not in hidden]})
            for name, part in super().get_fieldsets(request, obj)
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Return the read-only fields; of the user's own account also the rights."""
        fields = super().get_readonly_fields(request, obj)
        user = member(request)
        is_self = obj is not None and obj.pk == user.pk and not user.is_superuser
        return (*fields, "is_active", "groups") if is_self else fields

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Return a field whose choices are the roles that the user may assign."""
        if db_field.name == "groups" and not member(request).is_superuser:
            pks = [group.pk for group in assignable_groups()]
            kwargs["queryset"] = Group.objects.filter(pk__in=pks).order_by("name")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or _may(request, obj.pk, all_of_it=False))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        return allowed and (obj is None or _may(request, obj.pk, all_of_it=True))

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Show or save an account; a new owner gets a link, and an address needs a fresh login."""
        user = None if object_id is None else self.get_object(request, unquote(object_id))
        if request.method == "POST" and user and user.email != request.POST.get("email"):
            reauthentication.require(request)
        response = super().changeform_view(request, object_id, *args, **kwargs)
        if request.method == "POST" and user is None:
            for new in User.objects.filter(pk__in=request._pks):  # type: ignore[attr-defined]  # set above
                self._send_link(request, new)
        return response

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002  # the admin's name
        """Send the owner a link to choose a password; users change their own on another page."""
        user = self.get_object(request, unquote(id))
        if user is None or not self.has_change_permission(request, user):
            raise PermissionDenied
        if user.pk == member(request).pk:
            return redirect("admin:password_change")
        if request.method == "POST":
            reauthentication.require(request)
            self._send_link(request, user)
            return redirect("admin:people_user_change", user.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Send a link to choose a password"),
            "opts": self.opts,
            "original": user,
        }
        return TemplateResponse(request, "admin/people/send_link.html", context)

    def _send_link(self, request: HttpRequest, user: User) -> None:
        try:
            passwords.send_link(user=user, by=member(request))
        except passwords.LinkNotSent as error:
            messages.warning(request, str(error))
        else:
            sentence = gettext("A link to choose a password went to {address}.")
            messages.success(request, sentence.format(address=user.email))


@admin.register(Group)
class RoleAdmin(RecordedAdmin, stock.GroupAdmin):
    """Roles: superusers change them, others read them."""

    changing = staticmethod(changing_role)

    def _is_superuser(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return member(request).is_superuser

    has_add_permission = has_change_permission = has_delete_permission = _is_superuser


class ScopeForm(ScopeModelForm):
    """An agency scope; its errors explain which scopes ``by`` may not change.

    A new one is for several agencies: the first is the form's, ``others`` are the rest.
    """

    by: User
    others: Sequence[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "agency" in self.fields:
            self.fields["agency"] = self._agencies(self.instance.agency)

    def clean_user(self) -> User:
        user: User = self.cleaned_data["user"]
        account = account_of(user.pk)
        if reason := refusal(self.by, account, account if self.by.is_superuser else None):
            raise forms.ValidationError(reason)
        return user

    def clean_agency(self) -> str:
        """Return the agency, of several the first for which the account does not work yet."""
        choice: str | list[str] = self.cleaned_data["agency"]
        if isinstance(choice, str):
            return choice
        scopes = AgencyScope.objects.filter(user=self.cleaned_data.get("user"))
        new = sorted(set(choice) - set(scopes.values_list("agency", flat=True)))
        if not new:
            raise forms.ValidationError(gettext("They work for what you chose already."))
        self.others = new[1:]
        return new[0]

    def _agencies(self, stored: str) -> forms.ChoiceField:
        names = {EVERY_AGENCY: gettext("Every agency"), **known_agencies()}
        if stored and stored not in names:
            names[stored] = gettext("no longer among the agencies")
        error = gettext("“%(value)s” is not among the agencies: choose from the list.")
        options: dict[str, Any] = {
            "label": gettext("Agency") if stored else gettext("Agencies"),
            "choices": [(agency, f"{name} ({agency})") for agency, name in names.items()],
            "error_messages": {"invalid_choice": error},
        }
        if len(names) == 1:
            options["help_text"] = gettext(
                "There is no agency yet: editors write them, or a catalogue is loaded."
            )
        if stored:
            return forms.ChoiceField(**options)
        ticks = forms.CheckboxSelectMultiple(attrs={"class": "radiolist"})
        return forms.MultipleChoiceField(widget=ticks, **options)


@admin.register(AgencyScope)
class AgencyScopeAdmin(RecordedDeletion, ScopeModelAdmin):
    """The agencies for which a member of staff works."""

    column = "user_id"
    form = ScopeForm
    list_display = ["user", "agency"]
    list_filter = ["agency"]
    search_fields = ["user__username", "agency"]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        return type(form)(form.__name__, (form,), {"by": member(request)})

    def has_change_permission(self, request: HttpRequest, obj: AgencyScope | None = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or _may_scope(request, obj.user_id))

    def has_delete_permission(self, request: HttpRequest, obj: AgencyScope | None = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        return allowed and (obj is None or _may_scope(request, obj.user_id))

    def save_model(self, request: HttpRequest, obj: AgencyScope, form: Any, change: bool) -> None:
        """Save it, which may take it from one account and give it to another."""
        owners = AgencyScope.objects.filter(pk=obj.pk).values_list("user_id", flat=True)
        with changing(*owners, obj.user_id, by=member(request)):
            if change:
                obj.save()
            else:
                # Somebody else may have given the same meanwhile.
                scopes = [
                    AgencyScope.objects.get_or_create(user=obj.user, agency=agency)[0]
                    for agency in (obj.agency, *form.others)
                ]
                obj.pk = scopes[0].pk
        if form.others:
            names = ", ".join((obj.agency, *form.others))
            self.message_user(request, gettext("Given together: {names}.").format(names=names))
