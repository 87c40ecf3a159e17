"""Accounts, roles and agency scopes in Django's admin: by the rule, and into the audit record.

The forms leave out what somebody cannot change; that is a help, not the guard. The guard is
:func:`ieim.people.services.changing` around every change.
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

from ieim.people import factors, resetting, sessions
from ieim.people.access import member
from ieim.people.accounts import account_of, handed_out, why_not
from ieim.people.authentication import reauthentication
from ieim.people.four_eyes import rights
from ieim.people.models import EVERY_AGENCY, AgencyScope, Grant, User
from ieim.people.scope import known_agencies
from ieim.people.services import changing, changing_role

if TYPE_CHECKING:
    OfPeople = stock.UserAdmin[User]
    OfScope = admin.ModelAdmin[AgencyScope]
    AnyAdmin = admin.ModelAdmin[Any]
    ScopeModelForm = forms.ModelForm[AgencyScope]
    UserModelForm = forms.ModelForm[User]
else:
    OfPeople, OfScope, ScopeModelForm = stock.UserAdmin, admin.ModelAdmin, forms.ModelForm
    AnyAdmin, UserModelForm = admin.ModelAdmin, forms.ModelForm

admin.site.unregister(Group)
# What allauth keeps is changed by signing in, not by a form that no rule looks at.
for each in apps.get_models():
    if each.__module__.startswith("allauth.") and admin.site.is_registered(each):
        admin.site.unregister(each)

_BEYOND = frozenset({"is_superuser", "user_permissions"})
_NOT_FOR_ONESELF = ("is_active", "groups")
_NOTHING = frozenset({"is_staff"})
"""What no rule asks for: whoever has a role may open what is theirs."""


def _may(request: HttpRequest, pk: int, *, all_of_it: bool) -> bool:
    """Whether they may change an account, or even all of it."""
    account = account_of(pk)
    return not why_not(member(request), account, None if all_of_it else account)


def _may_scope(request: HttpRequest, pk: int) -> bool:
    """Whether the user may change the agencies that accounts work for."""
    return member(request).is_superuser or _may(request, pk, all_of_it=True)


def _tell(request: HttpRequest, asked: Sequence[Grant]) -> None:
    """Say what waits for a second administrator, and where."""
    sentence = gettext(
        "Another administrator has to agree before {name} has this: {rights}. It waits under "
        "“Rights”."
    )
    for grant in asked:
        if grant.state == Grant.State.ASKED:
            given = ", ".join(map(rights.in_words, grant.rights))
            messages.warning(request, sentence.format(name=grant.user, rights=given))


class Recorded(AnyAdmin):
    """What is alike for accounts, roles and scopes: each change inside ``around``, for the accounts
    or roles that ``column`` names."""

    around: Callable[..., Any] = staticmethod(changing)
    column = "pk"

    def found(self, request: HttpRequest, object_id: str | None) -> list[int]:
        """Return the row that a form is for, none for a new one."""
        stored = None if object_id is None else self.get_object(request, unquote(object_id))
        return [] if stored is None else [stored.pk]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save it, and have a new one looked at with the changes of this request."""
        super().save_model(request, obj, form, change)
        request._made.append(obj.pk)  # type: ignore[attr-defined]  # set around this

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with self.around(getattr(obj, self.column), by=member(request)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete all of them or none."""
        with self.around(*queryset.values_list(self.column, flat=True), by=member(request)):
            super().delete_queryset(request, queryset)


class NewPersonForm(UserModelForm):
    """A new account. Whoever it is for chooses the password, by a link to their address."""

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name", "email")
        field_classes = {"username": UsernameField}

    clean_username = UserCreationForm.clean_username

    def save(self, commit: bool = True) -> User:
        """Return the account, with which nobody can log in yet."""
        self.instance.set_unusable_password()
        return super().save(commit)


@admin.register(User)
class PeopleAdmin(Recorded, OfPeople):
    """Accounts and their roles."""

    add_form = NewPersonForm
    add_form_template = None
    add_fieldsets = ((None, {"fields": NewPersonForm.Meta.fields}),)
    readonly_fields = ("last_login", "date_joined")
    list_display = ("username", "first_name", "last_name", "email", "is_active")
    list_filter = ("is_active", "groups", "is_superuser")
    actions = ("remove_factors", "end_sessions")

    @admin.action(description=gettext_lazy("Take away second factors, for who has lost theirs"))
    def remove_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Have somebody set their second factors up anew; one's own have pages for that."""
        reauthentication.require(request)
        by = member(request)
        self._done(request, queryset, lambda user: factors.remove(user, by=by))

    @admin.action(description=gettext_lazy("End all sessions"))
    def end_sessions(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by = member(request)

        def ended(user: User) -> int:
            kept = UserSession.objects.filter(user=user)
            return sessions.end(kept, of=user, why="revoked", by=by)

        self._done(request, queryset, ended)

    def _done(
        self, request: HttpRequest, queryset: QuerySet[User], do: Callable[[User], int]
    ) -> None:
        """Do it to whom the rule lets them, never to themselves, and say to whom it was done."""
        others = queryset.exclude(pk=member(request).pk)
        may = [user for user in others if _may(request, user.pk, all_of_it=True)]
        names = ", ".join(user.get_username() for user in may if do(user)) or gettext("nobody")
        self.message_user(request, gettext("Done for: {names}.").format(names=names))

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Return the form's parts, without what only a superuser changes and what means nothing."""
        found = super().get_fieldsets(request, obj)
        without = _NOTHING if member(request).is_superuser else _NOTHING | _BEYOND
        return [
            (name, {**part, "fields": [each for each in part["fields"] if each not in without]})
            for name, part in found
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Return what can only be read: on one's own page, what one may."""
        fixed = super().get_readonly_fields(request, obj)
        user = member(request)
        is_self = obj is not None and obj.pk == user.pk and not user.is_superuser
        return (*fixed, *_NOT_FOR_ONESELF) if is_self else fixed

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Return a field whose choices are the roles that they hand out."""
        if db_field.name == "groups" and not member(request).is_superuser:
            handed = [group.pk for group in handed_out()]
            kwargs["queryset"] = Group.objects.filter(pk__in=handed).order_by("name")
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
        if request.method != "POST":
            return super().changeform_view(request, object_id, *args, **kwargs)
        found = self.found(request, object_id)
        address = request.POST.get("email")
        if User.objects.filter(pk__in=found).exclude(email=address).exists():
            reauthentication.require(request)
        asked: list[Grant] = []
        with changing(*found, by=member(request), asked=asked) as made:
            request._made = made  # type: ignore[attr-defined]  # the admin passes nothing else
            response = super().changeform_view(request, object_id, *args, **kwargs)
        _tell(request, asked)
        for pk in set(made) - set(found):
            self._send_link(request, User.objects.get(pk=pk))
        return response

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002  # the admin's name
        """Send the owner a link to choose a password; one's own is changed on its own page."""
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
            resetting.send_link(user=user, by=member(request))
        except resetting.NoLink as why:
            messages.warning(request, str(why))
        else:
            sentence = gettext("A link to choose a password went to {address}.")
            messages.success(request, sentence.format(address=user.email))


@admin.register(Group)
class RoleAdmin(Recorded, stock.GroupAdmin):
    """Roles: for superusers to change, for others to read."""

    around = staticmethod(changing_role)

    def _is_superuser(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return member(request).is_superuser

    has_add_permission = has_change_permission = has_delete_permission = _is_superuser

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        if request.method != "POST":
            return super().changeform_view(request, object_id, *args, **kwargs)
        found = self.found(request, object_id)
        with changing_role(*found, by=member(request)) as made:
            request._made = made  # type: ignore[attr-defined]  # the admin passes nothing else
            return super().changeform_view(request, object_id, *args, **kwargs)


class ScopeForm(ScopeModelForm):
    """Explains at the field which scopes ``by``, the user, cannot change.

    A new one is for several agencies: the first is the form's, ``more`` are the others.
    """

    by: User
    more: Sequence[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "agency" in self.fields:
            self.fields["agency"] = self._agencies(self.instance.agency)

    def clean_user(self) -> User:
        user: User = self.cleaned_data["user"]
        account = account_of(user.pk)
        if why := why_not(self.by, account, account if self.by.is_superuser else None):
            raise forms.ValidationError(why)
        return user

    def clean_agency(self) -> str:
        """Return the agency, of several the first one that they do not work for yet."""
        chosen: str | list[str] = self.cleaned_data["agency"]
        if isinstance(chosen, str):
            return chosen
        had = AgencyScope.objects.filter(user=self.cleaned_data.get("user"))
        new = sorted(set(chosen) - set(had.values_list("agency", flat=True)))
        if not new:
            raise forms.ValidationError(gettext("They work for what you chose already."))
        self.more = new[1:]
        return new[0]

    def _agencies(self, stored: str) -> forms.ChoiceField:
        names = {EVERY_AGENCY: gettext("Every agency"), **known_agencies()}
        if stored and stored not in names:
            names[stored] = gettext("no longer among the agencies")
        error = gettext("“%(value)s” is not among the agencies: choose from the list.")
        options: dict[str, Any] = {
            "label": gettext("Agency") if stored else gettext("Agencies"),
            "choices": [(each, f"{name} ({each})") for each, name in names.items()],
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
class AgencyScopeAdmin(Recorded, OfScope):
    """Which agencies a member of staff works for."""

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
        """Save it, which may take it from one person and give it to another."""
        before = AgencyScope.objects.filter(pk=obj.pk).values_list("user_id", flat=True)
        asked: list[Grant] = []
        with changing(*before, obj.user_id, by=member(request), asked=asked):
            if change:
                obj.save()
            else:
                # Somebody else may have given the same meanwhile.
                given = [
                    AgencyScope.objects.get_or_create(user=obj.user, agency=agency)[0]
                    for agency in (obj.agency, *form.more)
                ]
                obj.pk = given[0].pk
        _tell(request, asked)
        if form.more:
            names = ", ".join((obj.agency, *form.more))
            self.message_user(request, gettext("Given together: {names}.").format(names=names))
