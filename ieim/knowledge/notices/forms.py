"""The form for a new notice. What a notice may be is the service's to say."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.notices.services import MAX_TEXT
from ieim.people.models import User
from ieim.people.scope import agencies_of

EVERY = " every"
"""Every agency in the form, where blank is no choice yet; no id begins with a space."""
WHEN = "%Y-%m-%dT%H:%M"
_NO_DATE = gettext_lazy("Write a day and a time, such as 2026-12-24 12:00.")


def _moment(*, required: bool) -> forms.DateTimeField:
    return forms.DateTimeField(
        required=required,
        input_formats=[WHEN, "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        widget=forms.DateTimeInput(format=WHEN),
        error_messages={"invalid": _NO_DATE, "required": gettext_lazy("Say when the notice ends.")},
    )


class NoticeForm(forms.Form):
    """What somebody typed; moments are in the deployment's time zone."""

    agency = forms.ChoiceField(
        error_messages={
            "required": gettext_lazy("Choose an agency."),
            "invalid_choice": gettext_lazy("Choose one of your agencies."),
        }
    )
    # Its length is the service's to judge, without spare white space.
    text = forms.CharField(
        max_length=4 * MAX_TEXT,
        strip=False,
        error_messages={"required": gettext_lazy("Write what citizens should know.")},
    )
    starts_at = _moment(required=False)
    ends_at = _moment(required=True)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["agency"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = choices(user)

    def clean_agency(self) -> str:
        """Return the agency's id, blank for every agency."""
        agency: str = self.cleaned_data["agency"]
        return "" if agency == EVERY else agency


def choices(user: User) -> list[tuple[str, str]]:
    """Return the agencies that a user can write a notice for; who has only one need not choose."""
    scope = agencies_of(user)
    release = knowledge.current_release()
    agencies = release.agencies.values() if release else ()
    own = [(each.id, each.name) for each in agencies if scope is None or each.id in scope]
    found = [(EVERY, gettext("Every agency")), *own] if scope is None else own
    return found if len(found) == 1 else [("", gettext("Choose an agency")), *found]
