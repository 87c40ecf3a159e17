"""The metrics page, and the same figures as CSV."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conversations.outages import selectors as outages
from ieim.knowledge import selectors as knowledge
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.metrics import presenters, statistics
from review.metrics.exports import as_csv
from review.metrics.forms import DAYS, MetricsForm, last_days
from review.metrics.selectors import Figures, load
from review.quality import figures as quality


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show a period's figures; 400 with the last 28 days for a wrong address."""
    user, today = member(request), timezone.localdate()
    scope = agencies_of(user)
    form = current = MetricsForm(request.GET, today=today, agencies=scope)
    if not form.is_valid():
        current = MetricsForm({}, today=today, agencies=scope)
        current.full_clean()
    period, agency = current.cleaned_data["period"], current.cleaned_data["agency"]
    figures = load(period, scope)
    agencies, people = _agency_names(figures, scope, agency), _people(user, figures)
    selected = figures.of_agencies({agency}) if agency else figures
    team = statistics.decision_statistics(selected.decisions)
    persons = presenters.by_person(selected, people)
    deciders = persons or [(_("The team"), team)]
    positions = statistics.totals_by(selected.choices, "position")
    alone, _helped = statistics.answered_by(selected.questions)
    context = {
        "form": form,
        "period": period,
        "periods": [(days, current.query(days), period == last_days(days, today)) for days in DAYS],
        "csv_query": current.query(),
        "agency": agency,
        "agencies": sorted(agencies.items(), key=lambda item: item[1].casefold()),
        "scope": None if scope is None else sorted(agencies.values()),
        "outage": outages.current(),
        "alone": alone,
        "quality": quality.for_user(user, period, agency),
        "waiting": statistics.answer_times(selected.answers, selected.overdue),
        "ratings": statistics.true_of(selected.ratings, "useful"),
        "follow_ups": statistics.true_of(selected.follow_ups, "replaced"),
        "alerts": [(name, row) for name, row in deciders if row.is_suspicious],
        "questions": presenters.questions_by_day(selected),
        "choices": presenters.choices_by_day(selected),
        "chosen": positions.total() - positions[0],
        "chosen_first": positions[1],
        "stops": presenters.stages_by_day(period, selected.stops, _("Stopped for a person")),
        "reasons": presenters.reasons(selected),
        "times": presenters.times_by_day(selected),
        "tokens": presenters.stages_by_day(period, selected.tokens, _("Tokens")),
        "cached": sum(row["cached"] for row in selected.tokens),
        "feedback": presenters.feedback_reasons(selected),
        "feedback_total": statistics.total(selected.feedback),
        "people": persons,
        "team": team,
        "by_agency": None if agency else presenters.by_agency(figures, agencies),
    }
    return render(
        request, "review/metrics/metrics.html", context, status=400 if form.errors else 200
    )


@require_safe
def metrics_csv(request: HttpRequest) -> HttpResponse:
    """Return the figures as CSV; 400 with a sentence for a wrong address."""
    user = member(request)
    scope = agencies_of(user)
    form = MetricsForm(request.GET, today=timezone.localdate(), agencies=scope)
    if not form.is_valid():
        problems = "\n".join(str(error) for errors in form.errors.values() for error in errors)
        return HttpResponse(problems, status=400, content_type="text/plain; charset=utf-8")
    period, agency = form.cleaned_data["period"], form.cleaned_data["agency"]
    figures = load(period, scope)
    if agency:
        figures = figures.of_agencies({agency})
    text = as_csv(figures, _agency_names(figures, scope, agency), _people(user, figures))
    name = f"metrics-{period.first.isoformat()}-to-{period.last.isoformat()}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, headers=headers, content_type="text/csv; charset=utf-8")


def _people(user: User, figures: Figures) -> dict[int, str]:
    """Return the names of those who decided, by key, for a user who may see them."""
    if not user.has_perm("review.supervise_reviewitem"):
        return {}
    people = User.objects.in_bulk({row["actor_id"] for row in figures.decisions})
    return {key: _display_name(person) for key, person in people.items()}


def _display_name(person: User) -> str:
    """Return a name with the account, because two people may have the same name."""
    name, account = person.get_full_name(), person.get_username()
    return f"{name} ({account})" if name else account


def _agency_names(figures: Figures, scope: frozenset[str] | None, agency: str) -> Mapping[str, str]:
    """Return the names, by id, of the agencies to choose among, with the chosen ``agency``."""
    release = knowledge.current_release()
    names = {} if release is None else {a.id: a.name for a in release.agencies.values()}
    ids = scope if scope is not None else {*names, *figures.agencies, agency}
    return {key: names.get(key, key) for key in ids if key}
