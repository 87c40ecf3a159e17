"""Forms of the auditors' pages: the search, and the period of a download."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from conversations.models import Turn
from ieim.audit import selectors
from ieim.audit.models import AuditHead
from ieim.audit.selectors import Search
from review.queue.filters import session_of

MAX_LENGTH: Final = 160
"""Characters of a field; no actor is longer."""
MAX_DAYS: Final = 366
"""Days of one download; export_audit writes more."""

_UNREADABLE = gettext_lazy("This cannot be read. Type it anew.")
_NO_DATE = gettext_lazy("This is not a date. Write it as 2026-01-31.")


def _check_printable(text: str) -> None:
    if not text.isprintable():
        raise forms.ValidationError(_UNREADABLE)


def _text_field() -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=MAX_LENGTH,
        validators=[_check_printable],
        error_messages={"max_length": _UNREADABLE},
    )


def _day_field() -> forms.DateField:
    return forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": _NO_DATE},
        # Not every time zone has a midnight at the ends of what a date can be.
        validators=[
            MinValueValidator(date(2000, 1, 1), _NO_DATE),
            MaxValueValidator(date(9000, 12, 31), _NO_DATE),
        ],
    )


class SearchForm(forms.Form):
    """The search of events. Empty fields do not count."""

    about = _text_field()
    kind = _text_field()
    who = _text_field()
    first = _day_field()
    last = _day_field()

    def clean_about(self) -> tuple[UUID | None, tuple[str, ...]]:
        """Return the chain that was named, and the message or item whose events alone were."""
        text = self.cleaned_data["about"]
        if not text:
            return None, ()
        if (session := session_of(text)) is not None:
            return session.pk, ()
        with suppress(ValueError):
            pk = UUID(text)
            turns = Turn.objects.filter(Q(pk=pk) | Q(review_items=pk))
            if (chain := turns.values_list("session_id", flat=True).first()) is not None:
                return chain, (str(pk),)
            if AuditHead.objects.filter(pk=pk).exists():
                return pk, ()
        raise forms.ValidationError(
            gettext(
                "Nothing is recorded under this. Type a citizen’s reference, such as K7M-4QX9, or "
                "the whole id of a session, a message or an item."
            )
        )

    def clean_who(self) -> list[str] | None:
        """Return the actors with a name: the person, and programs that acted for them."""
        name = self.cleaned_data["who"]
        if not name or name in ("citizen", "system"):
            return [name] if name else None
        name = name if name.startswith("staff:") else f"staff:{name}"
        actors = [
            actor for actor in selectors.actors() if actor == name or actor.startswith(f"{name}/")
        ]
        if not actors:
            raise forms.ValidationError(
                gettext(
                    "Nobody of this name is in the record. Type a user name, citizen or system."
                )
            )
        return actors

    def clean(self) -> None:
        """Check that the first day is not after the last one."""
        _check_order(self, "first", "last")

    @property
    def query(self) -> str:
        """The query string of a valid search."""
        values = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def only_chain(self) -> UUID | None:
        """The chain that is asked for and nothing else: its timeline answers that."""
        values = dict(self.cleaned_data)
        chain, ids = values.pop("about")
        return None if ids or any(values.values()) else chain

    def search(self) -> Search:
        """Return the search of a valid form."""
        values = self.cleaned_data
        chain, ids = values["about"]
        return Search(
            kind=values["kind"],
            actors=values["who"],
            chain=chain,
            naming=ids,
            since=_midnight(values["first"]),
            until=_midnight(values["last"], days=1),
        )


class DownloadForm(forms.Form):
    """The period of a download, from one day to another."""

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        # The first name is a keyword of Python.
        self.fields |= {"from": _day_field(), "to": _day_field()}

    def clean(self) -> None:
        """Check that both days are there, in order, and not too far apart."""
        first, last = (self.cleaned_data.get(name) for name in ("from", "to"))
        if first and last:
            _check_order(self, "from", "to")
            if (last - first).days >= MAX_DAYS:
                message = gettext(
                    "That is more than {number} days. Choose fewer, or use manage.py export_audit."
                )
                self.add_error("from", message.format(number=MAX_DAYS))
        elif not self.errors:
            message = gettext("Enter the first and the last day of the download.")
            self.add_error("to" if first else "from", message)

    def period(self) -> tuple[datetime, datetime]:
        """Return when the first day of a valid form begins and the last one ends."""
        first, last = self.cleaned_data["from"], self.cleaned_data["to"]
        return _midnight(first), _midnight(last, days=1)


def _check_order(form: forms.Form, first: str, last: str) -> None:
    begin, end = (form.cleaned_data.get(name) for name in (first, last))
    if begin and end and begin > end:
        message = gettext("The first day is after the last day. Swap the two.")
        form.add_error(first, message)


def _midnight(day: date | None, *, days: int = 0) -> Any:
    """Return the midnight before a day, or ``days`` later; None for none."""
    if day is None:
        return None
    return timezone.make_aware(datetime.combine(day + timedelta(days=days), time.min))
