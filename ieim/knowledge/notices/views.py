"""The pages of notices: what applies now, comes and is over; a new one; ending one early."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import get_timezone_location
from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext, gettext_lazy, to_locale
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.models import Directive
from ieim.knowledge.notices import selectors, services
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.people.sessions import take_unsaved

OVER = 50
"""How many notices that are over the page lists, the last one first."""


@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """Every notice that the user may see."""
    now = timezone.now()
    visible = selectors.visible(member(request))
    groups = (
        (
            gettext("Now"),
            gettext("What citizens, or the model only, are told at this moment."),
            visible.filter(starts_at__lte=now),
        ),
        (
            gettext("Coming"),
            gettext("What they will be told."),
            visible.filter(starts_at__gt=now),
        ),
    )
    context = {
        "groups": [
            (words, note, _rows(request, rows.filter(ends_at__gt=now).order_by("ends_at")))
            for words, note, rows in groups
        ],
        "over": _rows(request, visible.filter(ends_at__lte=now).order_by("-ends_at")[:OVER]),
        "zone": _zone(),
    }
    return render(request, "knowledge/notices/notices.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """A new notice; 422 with what was typed and what is wrong with it."""
    unsaved = take_unsaved(request) if request.method == "GET" else None
    form = NoticeForm(
        member(request),
        request.POST if request.method == "POST" else None,
        initial=unsaved.dict() if unsaved else None,
    )
    if request.method == "POST" and form.is_valid():
        try:
            services.add(by=member(request), **form.cleaned_data)
        except services.Refused as refused:
            for field, problem in refused.problems.items():
                form.add_error(field, problem)
        else:
            messages.success(request, gettext("The notice is in place."), extra_tags="saved")
            return _see_list()
    context = {"form": form, "limit": services.MAX_TEXT, "zone": _zone()}
    status = 422 if request.method == "POST" else 200
    return render(request, "knowledge/notices/add.html", context, status=status)


@require_POST
def end(request: HttpRequest, notice: int) -> HttpResponse:
    """End a notice now."""
    try:
        services.end(directive_id=notice, by=member(request))
    except Directive.DoesNotExist as error:
        raise Http404 from error
    except services.Refused as refused:
        messages.error(request, str(refused))
    else:
        message = gettext("The notice has ended. New answers do not show it any more.")
        messages.success(request, message)
    return _see_list()


def _rows(request: HttpRequest, notices: Iterable[Directive]) -> list[dict[str, object]]:
    release = knowledge.current_release()
    agencies = release.agencies if release else {}
    return [
        {
            "notice": notice,
            "agency": agencies[notice.agency].name
            if notice.agency in agencies
            else notice.agency or gettext("Every agency"),
            "mine": works_for(member(request), notice.agency),
        }
        for notice in notices
    ]


def _zone() -> str:
    """Return where the times of the pages are those of, in words, and what time it is there."""
    zone = timezone.get_current_timezone()
    locale = to_locale(get_language() or "en")
    place = get_timezone_location(ZoneInfo(str(zone)), locale=locale, return_city=True)
    message = gettext("{place}, where it is {time} now")
    return message.format(place=place, time=date_format(timezone.localtime(), "H:i"))


def _see_list() -> HttpResponse:
    return HttpResponseRedirect(reverse("notices:notices"), status=303)


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
        max_length=4 * services.MAX_TEXT,
        strip=False,
        error_messages={"required": gettext_lazy("Write what citizens should know.")},
    )
    model_only = forms.BooleanField(required=False)
    starts_at = _moment(required=False)
    ends_at = _moment(required=True)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["agency"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  # declared so
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
    offered = [(a.id, a.name) for a in agencies if scope is None or a.id in scope]
    if scope is None:
        offered = [(EVERY, gettext("Every agency")), *offered]
    return offered if len(offered) == 1 else [("", gettext("Choose an agency")), *offered]


app_name = "notices"

urlpatterns = [
    path("", notices, name="notices"),
    path("add/", add, name="add"),
    path("<int:notice>/end/", end, name="end"),
]
