"""The gap desk: the groups of questions that ended badly, one group, and figures by service."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from ieim.knowledge import selectors as knowledge
from ieim.people.access import member
from ieim.people.reading import record_listed
from ieim.people.scope import agencies_of
from ieim.studio.drafts import sets
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.editor.addresses import edit_url
from ieim.studio.gaps import figures, selectors
from ieim.studio.gaps.collecting import looked_at
from ieim.studio.gaps.services import handle, record_shown
from ieim.studio.labels import language_label
from ieim.studio.models import Gap, GapAction, Service
from ieim.studio.pages.presenters import choices, chosen, filtered_page
from ieim.studio.trying.services import GoldenError

PERIODS = ("4", "8", "12", "26")
"""Weeks of the figures, the first where the address says nothing else."""
_FIELDS = ("action", "text", "service", "situation", "reason")


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """List the groups by the filters of the address."""
    user, query = member(request), request.GET
    scope = agencies_of(user)
    agencies = [("", gettext("All agencies")), (selectors.NOBODY, gettext("No agency"))]
    agencies += [(id_, n) for id_, n in agency_names().items() if scope is None or id_ in scope]
    codes = selectors.visible(user).order_by("language").values_list("language", flat=True)
    languages = [("", gettext("All languages"))]
    languages += [(code, language_label(code)) for code in codes.distinct() if code]
    weeks = {day.isoformat(): date_format(day) for day in selectors.weeks(user)}
    entries: dict[str, list[tuple[str, str]]] = {
        "agency": agencies,
        "language": languages,
        "outcome": [
            ("", gettext("However it ended")),
            *((str(value), str(label)) for value, label in Gap.Outcome.choices),
        ],
        "week": [("", gettext("All weeks")), *weeks.items()],
        "state": [(state, gettext(label)) for state, (label, _) in selectors.STATES.items()],
    }
    active = {name: chosen(query, name, dict(values)) for name, values in entries.items()}
    groups = selectors.listed(user, **active)
    page = filtered_page(groups, query, active, total=selectors.visible(user).count())
    rows = selectors.rows(list(page.page))
    record_shown(rows, user)
    filters = {name: choices(values, active[name]) for name, values in entries.items()}
    context = {
        "list": page,
        "rows": rows,
        "filters": filters,
        "current": knowledge.current_number(),
        "looked_at": looked_at(),
    }
    return render(request, "studio/gaps/home.html", context)


@require_safe
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one group and what can be done about it."""
    return _page(request, pk)


@sensitive_post_parameters("text")
@require_POST
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Do something about a group, and redirect to what follows; 422 with the reason if refused."""
    stored = get_object_or_404(selectors.visible(member(request)), pk=pk)
    data = {name: request.POST.get(name, "") for name in _FIELDS}
    agency, _, key = data["service"].partition(" ")
    try:
        if "\0" in "".join(data.values()):
            message = gettext("The text has a character that cannot be shown. Type it again.")
            raise GoldenError(message)
        service = Service.objects.filter(agency=agency, key=key).first()
        if data["action"] not in GapAction.Kind.values:
            raise GoldenError(gettext("Press one of the buttons."))
        action = handle(
            group=stored,
            kind=GapAction.Kind(data["action"]),
            by=member(request),
            text=data["text"].strip(),
            service=service,
            situation=data["situation"],
            reason=data["reason"],
        )
    except GoldenError as error:
        return _page(request, pk, error=str(error))
    if action.kind == GapAction.Kind.SERVICE:
        return redirect(f"{reverse('editor:new_service')}?gap={pk}")
    if action.kind == GapAction.Kind.CORRECTION and service:
        return redirect(f"{edit_url('services', [service.agency_id, service.key])}?gap={pk}")
    messages.success(request, gettext("Done: {action}.").format(action=action.get_kind_display()))
    return redirect("gaps:group", pk)


def _page(request: HttpRequest, pk: int, *, error: str = "") -> HttpResponse:
    user = member(request)
    rows = selectors.rows([get_object_or_404(selectors.visible(user), pk=pk)])
    if not rows:
        raise Http404
    (row,) = rows
    data, search = request.POST, request.GET.get("q", "")[:200]
    group = row["group"]
    gap = selectors.failing(group)
    text = data.get("text") or (gap.text if gap is not None else "")
    options, answers = selectors.options(group, user, text, search), selectors.answers(group)
    record_shown(rows, user)
    others = [a["turn"] for a in answers] + ([gap.turn_id] if gap is not None else [])
    record_listed(selectors.LISTED, "turns", others, user)
    last = row["actions"][-1] if row["actions"] else None
    working = sets.working_set(user) if last is not None and last.by_id == user.pk else None
    context: dict[str, Any] = {
        **options,
        "row": row,
        "text": text,
        "search": search,
        "service": data.get("service", options["sure"]),
        "situation": data.get("situation", ""),
        "reason": data.get("reason", ""),
        "answers": answers,
        "flag": selectors.flag_of(group) if user.has_perm(selectors.MAY_CORRECT) else "",
        "failing": last is not None and last.failing_id,
        "set": working if working is not None and working.entries.exists() else None,
        "next": selectors.next_group(group, user),
        "error": error,
        "field": "reason" if data.get("action") == GapAction.Kind.NO_GAP else "text",
        "current": knowledge.current_number(),
    }
    return render(request, "studio/gaps/group.html", context, status=422 if error else 200)


@require_safe
def services(request: HttpRequest) -> HttpResponse:
    """Show the figures by service and by situation of the last weeks."""
    weeks = chosen(request.GET, "weeks", PERIODS) or PERIODS[0]
    since = timezone.now() - timedelta(weeks=int(weeks))
    label = gettext("Last {number} weeks")
    periods = [(number, label.format(number=number)) for number in PERIODS]
    context = {
        "not_ours": selectors.not_ours(member(request), since),
        "periods": choices(periods, weeks),
        "tables": [
            (gettext("Services"), figures.by_service(member(request), since)),
            (gettext("Situations"), figures.by_situation(since)),
        ],
    }
    return render(request, "studio/gaps/services.html", context)


app_name = "gaps"

urlpatterns = [
    path("", home, name="home"),
    path("services/", services, name="services"),
    path("<int:pk>/", group, name="group"),
    path("<int:pk>/act/", act, name="act"),
]
