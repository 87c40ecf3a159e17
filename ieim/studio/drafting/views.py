"""The pages of a model's drafts: ask for one, and take what is right of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.knowledge.bundles.bundle import BundleError
from ieim.people.access import member
from ieim.people.scope import works_for
from ieim.studio.drafting import services
from ieim.studio.drafting.requests import texts_of
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import editing
from ieim.studio.drafts.history import shown
from ieim.studio.drafts.translations import Owner
from ieim.studio.labels import column_label, language_label
from ieim.studio.models import DraftingRun
from ieim.studio.proposals.selectors import all_sets
from ieim.studio.translating.selectors import target_languages

app_name = "drafting"


_OWNER = ("agency", "category", "service")


def _query(owner: Owner) -> str:
    return urlencode(dict(zip(_OWNER, owner, strict=True)))


def _owner(request: HttpRequest) -> tuple[Owner, str]:
    """Return what an address is about, and its name.

    Raises:
        Http404: there is no such entry, or it belongs to another agency.
    """
    agency, category, service = (request.GET.get(name, "") for name in _OWNER)
    owner = (agency, category, service)
    try:
        texts = texts_of(drafts.draft().release, owner, DraftingRun.Kind.TRANSLATION)
    except KeyError as error:
        raise Http404 from error
    if not works_for(member(request), owner[0]):
        raise Http404
    return owner, shown(texts.get("name"))


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Offer what can be drafted about an agency, category or service."""
    owner, name = _owner(request)
    codes = target_languages(drafts.draft().bundle)
    context = {
        "owner": owner,
        "query": _query(owner),
        "name": name,
        "has_model": services.has_model(),
        "languages": [(code, language_label(code)) for code in codes],
    }
    return render(request, "studio/drafting/home.html", context)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Ask for a draft, or say why not."""
    owner, _ = _owner(request)
    kind, language = request.POST.get("kind", ""), request.POST.get("language", "")
    try:
        run = services.start(kind=kind, owner=owner, language=language, by=member(request))
    except DraftingError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('drafting:home')}?{_query(owner)}")
    return redirect("drafting:run", run.pk)


@require_POST
def start_stale(request: HttpRequest, proposal: int) -> HttpResponse:
    """Ask for drafts of all translations that a change set makes out of date, or say why not."""
    stored = get_object_or_404(all_sets(), pk=proposal)
    try:
        services.start_stale(proposal=stored, by=member(request))
    except (DraftingError, BundleError) as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('knowledge:proposal', args=[proposal])}#stale")


@require_safe
def run(request: HttpRequest, run: int) -> HttpResponse:
    """Show a draft beside its original; htmx polls while a worker is at it."""
    return _page(request, _run(request, run))


@require_POST
def accept(request: HttpRequest, run: int) -> HttpResponse:
    """Save what is ticked, as it was edited; 422 with what is wrong with it."""
    stored = _run(request, run)
    taken = {line.name: line.draft for line in _lines(stored, request.POST) if line.is_ticked}
    try:
        services.accept(run=stored, taken=taken, by=member(request))
    except (DraftingError, editing.Stale, editing.OutOfScope) as error:
        return _page(request, stored, problems=[str(error)])
    except editing.ManyInvalid as error:
        columns = (column for row in error.rows.values() for column in row.values())
        problems = [problem.text for column in columns for problem in column]
        return _page(request, stored, problems=problems)
    messages.success(request, gettext("It is in the draft. It is public once it is published."))
    return redirect("drafting:run", stored.pk)


def _run(request: HttpRequest, pk: int) -> DraftingRun:
    stored = get_object_or_404(DraftingRun.objects.select_related("created_by"), pk=pk)
    if not works_for(member(request), stored.agency):
        raise Http404
    return stored


def _page(
    request: HttpRequest, stored: DraftingRun, *, problems: Sequence[str] = ()
) -> HttpResponse:
    is_under_way = stored.state in (DraftingRun.State.QUEUED, DraftingRun.State.RUNNING)
    context = {
        "run": stored,
        "query": _query(stored.owner),
        "name": shown(stored.seen["texts"].get("name", stored.service)),
        "language": language_label(stored.language) if stored.language else "",
        "lines": list(_lines(stored, request.POST)),
        "is_under_way": is_under_way,
        "problems": problems,
    }
    return render(request, "studio/drafting/run.html", context, status=422 if problems else 200)


class Line(NamedTuple):
    """A text of a draft beside its original, as it is in the form; ``name`` is the field's, or the
    number of a question, which has no original."""

    name: str
    label: str
    original: str
    draft: str
    is_ticked: bool


def _lines(stored: DraftingRun, typed: QueryDict) -> Iterator[Line]:
    """Yield the lines of a draft, as they were ``typed`` where the form was sent."""
    questions: Sequence[Mapping[str, str]] = stored.result.get("questions", ())
    texts = [
        (str(number), language_label(question["language"]), "", question["text"])
        for number, question in enumerate(questions)
    ]
    originals = stored.seen["texts"]
    for name, text in stored.result.get("fields", {}).items():
        texts.append((name, column_label(name), shown(originals[name]), shown(text)))
    for name, label, original, text in texts:
        is_ticked = name in typed.getlist("take")
        yield Line(name, label, original, typed.get(f"text-{name}", text), is_ticked)


urlpatterns = [
    path("", home, name="home"),
    path("start/", start, name="start"),
    path("sets/<int:proposal>/", start_stale, name="start_stale"),
    path("<int:run>/", run, name="run"),
    path("<int:run>/accept/", accept, name="accept"),
]
