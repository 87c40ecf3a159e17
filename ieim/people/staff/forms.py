"""The form of an account: who it is, its roles, and its agencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import UserCreationForm, UsernameField
from django.contrib.auth.models import Group
from django.utils.translation import gettext, gettext_lazy

from ieim.people.accounts import account_of, assignable_groups, refusal
from ieim.people.models import EVERY_AGENCY, User
from ieim.people.roles import description_of, name_of
from ieim.people.scope import known_agencies
from ieim.people.staff.selectors import version_of

if TYPE_CHECKING:
    UserForm = forms.ModelForm[User]
else:
    UserForm = forms.ModelForm

_POWERS = ("is_active", "roles", "agencies")


class AccountForm(UserForm):
    """An account as ``by`` may change it; what they may not change is disabled.

    ``reason`` is a sentence that says why something is disabled, "" if nothing is; ``others`` are
    the roles that only a superuser gives.
    """

    roles = forms.MultipleChoiceField(required=False)
    agencies = forms.MultipleChoiceField(
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy(
                "“%(value)s” is not among the agencies: choose from the list."
            )
        },
    )
    version = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name", "email", "is_active")
        field_classes = {"username": UsernameField}

    clean_username = UserCreationForm.clean_username

    def __init__(self, by: User, data: Any = None, *, instance: User | None = None) -> None:
        account = account_of(instance.pk) if instance else None
        roles = sorted(account.roles) if account else []
        agencies = sorted(account.agencies) if account else []
        initial = {"roles": roles, "agencies": agencies, "version": version_of(account)}
        super().__init__(data, instance=instance, initial=initial)
        self.reason = refusal(by, account, account) if account else ""
        self.is_read_only = bool(self.reason)
        disabled = set(self.fields) - {"version"} if self.reason else set()
        if account:
            del self.fields["username"]
            if account.pk == by.pk and not by.is_superuser:
                disabled |= set(_POWERS)
                self.reason = refusal(by, account, None)
        for name in disabled & set(self.fields):
            self.fields[name].disabled = True
        names = [group.name for group in Group.objects.order_by("name")]
        assignable = names if by.is_superuser else [group.name for group in assignable_groups()]
        offered = roles if "roles" in disabled else assignable
        self.others = [] if "roles" in disabled else [_role(n) for n in names if n not in offered]
        self._choose("roles", [(name, _role(name)) for name in offered])
        choices = {EVERY_AGENCY: gettext("Every agency"), **known_agencies()}
        gone = gettext("no longer among the agencies")
        choices |= {agency: f"{gone} ({agency})" for agency in agencies if agency not in choices}
        self._choose("agencies", [*choices.items()])

    def clean_agencies(self) -> list[str]:
        """Return the ids of the agencies, of every agency only that."""
        agencies: list[str] = self.cleaned_data["agencies"]
        return [EVERY_AGENCY] if EVERY_AGENCY in agencies else agencies

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # declared so
        field.choices = choices


def _role(name: str) -> str:
    return f"{name_of(name)}: {description_of(name)}"
