"""Views of the board, of absences, and of the alerts that open pages ask for."""

from __future__ import annotations

from collections import Counter
from datetime import date

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.people.access import member
from ieim.people.models import User
from review import scope
from review.board import alerts, selectors, services
from review.board.models import SharedItem
from review.crisis import is_crisis
from review.queue.services import NotDone
from review.queue.views import back


@require_safe
def board(request: HttpRequest) -> HttpResponse:
    """Show the board; with ``number`` also who would get so many items. For htmx the dangers."""
    user, now = member(request), timezone.now()
    if request.headers.get("HX-Request") == "true":
        part = {"dangers": selectors.dangers(user, now)}
        return render(request, "review/board/_danger.html", part)
    number, planned = request.GET.get("number", ""), Counter[User]()
    crises = Counter[User]()
    if number:
        try:
            for item, to in services.plan(number=_number(number), actor=user):
                planned[to] += 1
                crises[to] += is_crisis(item)
        except NotDone as refused:
            messages.error(request, str(refused))
        else:
            if not planned:
                messages.warning(request, gettext("Nobody present may have one of these items."))
    context = {
        **selectors.board(user, now),
        "planned": [(who, count, crises[who]) for who, count in planned.most_common()],
        "number": number,
        "shared": SharedItem.objects.filter(by=user).count(),
    }
    return render(request, "review/board/board.html", context)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


@require_POST
def share(request: HttpRequest) -> HttpResponse:
    """Share out ``number`` items by load, or give back what was shared out last (``undo``)."""
    try:
        if "undo" in request.POST:
            count = services.undo_share(actor=member(request))
            messages.success(request, _given_back(count))
        else:
            number = _number(request.POST.get("number", ""))
            given = services.share_out(number=number, actor=member(request))
            names = ", ".join(f"{who.display_name} ({n})" for who, n in given.most_common())
            messages.success(request, gettext("Shared out: {names}.").format(names=names))
    except NotDone as refused:
        messages.error(request, str(refused))
    return back(request, otherwise=reverse("review:board"))


def _given_back(count: int) -> str:
    text = ngettext("{number} item was given back.", "{number} items were given back.", count)
    return text.format(number=count)


@require_http_methods(["GET", "HEAD", "POST"])
def absence(request: HttpRequest) -> HttpResponse:
    """Show one's absence, or change it (``do``: set, end, give_back); a lead also that of others
    (``account``)."""
    user = member(request)
    if request.method != "POST":
        now = timezone.now()
        context = {
            "until": selectors.absences(now).get(user.pk),
            "crises": selectors.crises_held(user, now).get(user.pk, ()),
        }
        return render(request, "review/board/absence.html", context)
    username, do = request.POST.get("account", user.get_username()), request.POST.get("do")
    try:
        if do == "give_back":
            count = services.give_back(username=username, actor=user)
            messages.success(request, _given_back(count))
        else:
            day = None if do == "end" else _day(request.POST.get("until", ""))
            who = services.set_absence(username=username, until=day, actor=user)
            is_absent = gettext("{name} is absent; nothing is assigned to them.")
            text = is_absent if day else gettext("{name} is present.")
            messages.success(request, text.format(name=who.display_name))
    except User.DoesNotExist as error:
        raise Http404 from error
    except NotDone as refused:
        messages.error(request, str(refused))
    return back(request, otherwise=reverse("review:absence"))


def _day(text: str) -> date:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise NotDone(gettext("Enter a day, such as 24 December of this year."))
    return day


@require_safe
def board_alerts(request: HttpRequest) -> HttpResponse:
    """Return the causes for an alert among what the user sees, and the sentence of each kind."""
    found = alerts.causes(scope.visible(member(request)), timezone.now())
    return JsonResponse({"causes": found, "sentences": alerts.sentences(found)})
