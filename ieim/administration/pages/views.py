"""The settings' page: every section, saved and previewed by itself."""

from __future__ import annotations

from base64 import b64encode

from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings as configured
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from ieim.administration import languages, logos, selectors, services
from ieim.administration.own import Administration
from ieim.administration.pages import presenters
from ieim.administration.pages.missing import missing
from ieim.administration.sections import SectionOf, section
from ieim.administration.sections.table import LEGAL
from ieim.administration.services import Conflict, Refused
from ieim.administration.templatetags.administration import PREVIEWED
from ieim.people.access import member


@never_cache
@require_safe
def settings(request: HttpRequest) -> HttpResponse:
    """Every section as it is stored, and what is missing."""
    code = request.GET.get("language", "")
    return _page(request, code if code in languages.NAMES else selectors.offered_languages()[0])


@never_cache
@require_POST
def save(request: HttpRequest, section_name: str) -> HttpResponse:
    """Save a section: 303 back to it, 422 with what is wrong, 409 where somebody was quicker."""
    asked, typed = _typed(request, section_name)
    version = _version(request)
    try:
        services.change(
            name=asked.name,
            typed=typed,
            version=version,
            by=member(request),
            logo=_logo(request, asked),
        )
    except Refused as refused:
        return _again(request, asked, typed, problems=refused.problems, version=version)
    except Conflict as conflict:
        return _again(request, asked, typed, version=conflict.stored.version, conflict=True)
    told = gettext("{section}: saved. Every page shows it from now on.")
    messages.success(request, told.format(section=asked.title))
    query = f"?{urlencode({'language': asked.language})}" if asked.language else ""
    response = redirect(f"{reverse('administration:settings')}{query}#{asked.name}")
    response.status_code = 303
    return response


# A picture that is not stored yet has no address.
@never_cache
@require_POST
@csp_update({"img-src": [SELF, "data:"]})  # type: ignore[arg-type]  # a list, as settings have it
def preview(request: HttpRequest, section_name: str) -> HttpResponse:
    """The citizen's page with what was typed into a section, saved or not; 422 as :func:`save`."""
    asked, typed = _typed(request, section_name)
    data = _logo(request, asked)
    try:
        picture = services.picture(data) if data is not None else None
        content = services.checked(asked, typed)
    except Refused as refused:
        return _again(request, asked, typed, problems=refused.problems, version=_version(request))
    own = Administration({**selectors.current().sections, asked.name: content})
    shown = ""
    if picture is not None:
        kind = picture.media_type
        shown = f"data:{kind};base64,{b64encode(bytes(picture.content)).decode()}"
    language = asked.language or own.languages[0]
    context = {
        PREVIEWED: own,
        "section": asked,
        "unsaved_logo": shown,
        "legal": own.legal(language),
        "examples": own.examples(language),
    }
    return render(request, "administration/preview.html", context)


def _typed(request: HttpRequest, name: str) -> tuple[SectionOf, dict[str, str]]:
    try:
        asked = section(name)
    except KeyError as error:
        raise Http404 from error
    typed = {each.name: request.POST.get(each.name, "") for each in asked.fields}
    if "offered" in typed:
        typed["offered"] = " ".join(request.POST.getlist("offered"))
    if request.POST.get("without_logo"):
        typed["logo"] = ""
    return asked, typed


def _version(request: HttpRequest) -> int:
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _logo(request: HttpRequest, asked: SectionOf) -> bytes | None:
    file = request.FILES.get("logo_file")
    if not file or all(each.widget != "logo" for each in asked.fields):
        return None
    # One byte more than may be: enough to tell that it is too much.
    return file.read(logos.MAX_BYTES + 1) if file.size else None


def _again(
    request: HttpRequest,
    asked: SectionOf,
    typed: dict[str, str],
    *,
    version: int,
    problems: dict[str, str] | None = None,
    conflict: bool = False,
) -> HttpResponse:
    stored = selectors.sections().get(asked.name)
    again = presenters.shown(
        asked, stored, typed=typed, problems=problems, version=version, conflict=conflict
    )
    return _page(request, asked.language or selectors.offered_languages()[0], again)


def _page(
    request: HttpRequest, language: str, again: presenters.SectionView | None = None
) -> HttpResponse:
    sections = presenters.page(selectors.sections(), language)
    if again is not None:
        sections = [again if each.of.name == again.of.name else each for each in sections]
    own = selectors.current()
    context = {
        "sections": sections,
        "again": again,
        "missing": missing(own),
        "mail": bool(configured.IEIM_MAIL["HOST"]),
        "legal_section": LEGAL + language,
        "legal_languages": [
            (code, languages.NAMES[code], code == language)
            for code in dict.fromkeys([*own.languages, language])
        ],
    }
    status = 200 if again is None else 409 if again.conflict else 422
    return render(request, "administration/settings.html", context, status=status)
