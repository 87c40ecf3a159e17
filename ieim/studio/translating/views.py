"""The pages of translations: original and translation side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from ieim.administration.languages import direction
from ieim.people.access import member
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts import editing
from ieim.studio.drafts.translations import owner_of
from ieim.studio.editor.addresses import edit_url
from ieim.studio.labels import column_label, language_label
from ieim.studio.models import Change, Translation
from ieim.studio.pages.presenters import choices, chosen, filtered_page
from ieim.studio.translating import selectors
from ieim.studio.translating.selectors import Entry

app_name = "translating"

_STATES: Mapping[str, tuple[str, Callable[[Entry], bool]]] = {
    "": (gettext_noop("Out of date or missing"), lambda entry: entry.is_stale or entry.is_missing),
    "stale": (gettext_noop("Out of date"), lambda entry: entry.is_stale),
    "missing": (gettext_noop("Missing"), lambda entry: entry.is_missing),
    "all": (gettext_noop("All"), lambda entry: True),
}


@require_safe
def translations(request: HttpRequest) -> HttpResponse:
    """List what is to be translated into one language; the first where the address has none."""
    bundle, user = drafts.draft().bundle, member(request)
    codes = selectors.target_languages(bundle)
    language = chosen(request.GET, "language", codes) or next(iter(codes), "")
    state = chosen(request.GET, "state", _STATES)
    entries = list(selectors.entries(bundle, language)) if language else []
    matches = list(filter(_STATES[state][1], entries))
    active = {"language": language, "state": state}
    listed = filtered_page(matches, request.GET, active, total=len(entries))
    stored = {owner_of(row): row for row in Translation.objects.filter(language=language)}
    context = {
        "language": language,
        "language_name": language_label(language),
        "direction": direction(language),
        "languages": choices([(c, language_label(c)) for c in codes], language),
        "states": choices([(name, gettext(text)) for name, (text, _) in _STATES.items()], state),
        "list": listed,
        "rows": [_row(entry, stored.get(entry.owner), language, user) for entry in listed.page],
    }
    return render(request, "studio/translating/translations.html", context)


def _row(entry: Entry, stored: Translation | None, language: str, user: User) -> dict[str, Any]:
    agency, category, service = entry.owner
    edit = ""
    if works_for(user, agency) and user.has_perm("studio.change_translation"):
        keys = ("", service) if entry.kind == "situation" else (service, "")
        edit = edit_url("translations", [language, agency, category, *keys])
    texts = [(column_label(text.field), text) for text in entry.texts]
    return {"entry": entry, "texts": texts, "stored": stored, "edit": edit}


@require_POST
def confirm(request: HttpRequest, translation: int) -> HttpResponse:
    """Count the texts of a translation as current; show the list again, at the same place."""
    stored = get_object_or_404(Translation, pk=translation)
    if not works_for(member(request), stored.agency_id or ""):
        raise Http404
    seen = request.POST.get("version", "")
    try:
        editing.confirm_translation(
            translation=stored,
            by=member(request),
            expected_version=int(seen) if seen.isdecimal() and len(seen) < 10 else 0,
            source=Change.Source.ADMIN,
        )
    except editing.Stale as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("These texts count as up to date."))
    state = chosen(request.POST, "state", _STATES)
    query = urlencode({"language": stored.language, "state": state})
    return redirect(f"{reverse('translating:translations')}?{query}")


urlpatterns = [
    path("", translations, name="translations"),
    path("<int:translation>/confirm/", confirm, name="confirm"),
]
