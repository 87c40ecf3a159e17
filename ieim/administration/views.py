"""The settings' page, and what pages fetch of the settings: the colours and the logo."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import timedelta
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings as configured
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.administration import languages, logos, presenters, selectors, services
from ieim.administration.contrast import is_colour
from ieim.administration.models import Logo
from ieim.administration.organisation import Administration, Colours
from ieim.administration.sections import LEGAL, SectionOf, section
from ieim.administration.services import Conflict, Refused
from ieim.administration.templatetags.administration import PREVIEWED
from ieim.people.access import member
from ieim.pipeline import contract as contracts
from ieim.pipeline.topology import FIRST

FOR_EVER = "public, max-age=31536000, immutable"
LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For whoever opens the logo by itself: it runs and fetches nothing."""
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@require_safe
def settings(request: HttpRequest) -> HttpResponse:
    """Every section as it is stored, and what is missing."""
    code = request.GET.get("language", "")
    return _page(request, code if code in languages.NAMES else selectors.offered_languages()[0])


@require_POST
def save(request: HttpRequest, section_name: str) -> HttpResponse:
    """Save a section: 303 back to it, 422 with what is wrong, 409 where somebody was quicker."""
    of, typed, logo = _typed(request, section_name)
    version = _version(request)
    by = member(request)
    try:
        services.change(name=of.name, typed=typed, version=version, by=by, logo=logo)
    except Refused as refused:
        return _again(request, of, typed, problems=refused.problems, version=version)
    except Conflict as conflict:
        return _again(request, of, typed, version=conflict.stored.version, conflict=True)
    message = gettext("{section}: saved. Every page shows it from now on.")
    messages.success(request, message.format(section=of.title))
    query = f"?{urlencode({'language': of.language})}" if of.language else ""
    address = f"{reverse('administration:settings')}{query}#{of.name}"
    return HttpResponseRedirect(address, status=303)


# A picture that is not stored yet has no address.
@require_POST
@csp_update({"img-src": [SELF, "data:"]})  # type: ignore[arg-type]  # a list, as settings have it
def preview(request: HttpRequest, section_name: str) -> HttpResponse:
    """The citizen's page with what was typed into a section, saved or not; 422 as :func:`save`."""
    of, typed, logo = _typed(request, section_name)
    try:
        content, picture = services.checked(of, typed, logo)
    except Refused as refused:
        return _again(request, of, typed, problems=refused.problems, version=_version(request))
    organisation = Administration({**selectors.current().sections, of.name: content})
    unsaved = ""
    if picture is not None:
        unsaved = f"data:{picture.media_type};base64,{b64encode(bytes(picture.content)).decode()}"
    language = of.language or organisation.languages[0]
    context = {
        PREVIEWED: organisation,
        "section": of,
        "unsaved_logo": unsaved,
        "legal": organisation.legal(language),
        "examples": organisation.examples(language),
        "persona": contracts.load(FIRST, organisation.persona).persona,
    }
    return render(request, "administration/preview.html", context)


def _typed(request: HttpRequest, name: str) -> tuple[SectionOf, dict[str, str], bytes | None]:
    """Return the section, what was typed into it, and the file of a new logo."""
    try:
        of = section(name)
    except KeyError as error:
        raise Http404 from error
    typed = {each.name: request.POST.get(each.name, "") for each in of.fields}
    if "offered" in typed:
        typed["offered"] = " ".join(request.POST.getlist("offered"))
    if request.POST.get("without_logo"):
        typed["logo"] = ""
    if typed.get("logo") and not _DIGEST.fullmatch(typed["logo"]):
        raise BadRequest("The field logo is no digest. Open the settings again.")
    file = request.FILES.get("logo_file")
    if not file or not file.size or "logo" not in typed:
        return of, typed, None
    # One byte more than may be: enough to tell that it is too much.
    return of, typed, file.read(logos.MAX_BYTES + 1)


def _version(request: HttpRequest) -> int:
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _again(
    request: HttpRequest, of: SectionOf, typed: dict[str, str], **shown: Any
) -> HttpResponse:
    stored = selectors.sections().get(of.name)
    again = presenters.shown(of, stored, typed=typed, **shown)
    return _page(request, of.language or selectors.offered_languages()[0], again)


def _page(
    request: HttpRequest, language: str, again: presenters.SectionView | None = None
) -> HttpResponse:
    sections = presenters.page(selectors.sections(), language)
    if again is not None:
        sections = [again if each["of"] is again["of"] else each for each in sections]
    organisation = selectors.current()
    context = {
        "sections": sections,
        "again": again,
        "missing": presenters.missing(organisation),
        "mail": bool(configured.IEIM_MAIL["HOST"]),
        "legal_section": LEGAL + language,
        "legal_languages": [
            (code, languages.NAMES[code], code == language)
            for code in dict.fromkeys([*organisation.languages, language])
        ],
    }
    status = 200 if again is None else 409 if again["conflict"] else 422
    return render(request, "administration/settings.html", context, status=status)


@require_safe
def colours(request: HttpRequest) -> HttpResponse:
    """The colours as custom properties; cached for ever at the address of a version."""
    current = selectors.current().colours
    response = _style_sheet(request, current)
    is_current = current is not None and request.GET.get("v", "") == current.version
    response["Cache-Control"] = FOR_EVER if is_current else "no-cache"
    return response


@require_safe
def preview_colours(request: HttpRequest) -> HttpResponse:
    """The style sheet of colours that are not saved."""
    brand, dark = (request.GET.get(name, "") for name in ("brand", "dark"))
    valid = is_colour(brand) and is_colour(dark)
    return _style_sheet(request, Colours(brand, dark) if valid else None)


def _style_sheet(request: HttpRequest, colours: Colours | None) -> HttpResponse:
    context = {"colours": colours}
    return render(request, "administration/colours.css", context, content_type="text/css")


@require_safe
def logo(request: HttpRequest, sha256: str) -> HttpResponse:
    """A logo, by its digest."""
    found = Logo.objects.filter(pk=sha256).first() if _DIGEST.fullmatch(sha256) else None
    if found is None:
        raise Http404
    headers = {
        "Cache-Control": FOR_EVER,
        "Content-Security-Policy": LOGO_POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(bytes(found.content), content_type=found.media_type, headers=headers)


SECURITY_DAYS = 90
"""For how long the contact for researchers is said to hold: it is read anew before that."""


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Say where to report a hole (RFC 9116); 404 while the settings name neither an e-mail address
    nor a web page."""
    organisation = selectors.current()
    contacts = (f"mailto:{organisation.email}" if organisation.email else "", organisation.website)
    lines = [f"Contact: {contact}" for contact in contacts if contact]
    if not lines:
        raise Http404
    expires = timezone.now() + timedelta(days=SECURITY_DAYS)
    lines += [
        f"Expires: {expires:%Y-%m-%d}T00:00:00Z",
        f"Preferred-Languages: {', '.join(organisation.languages)}",
    ]
    if configured.IEIM_PUBLIC_URL:
        lines.append(f"Canonical: {configured.IEIM_PUBLIC_URL}{request.path}")
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


app_name = "administration"

urlpatterns = [
    path("settings/", settings, name="settings"),
    path("settings/colours.css", preview_colours, name="preview_colours"),
    path("settings/<slug:section_name>/", save, name="save"),
    path("settings/<slug:section_name>/preview/", preview, name="preview"),
    path(".well-known/security.txt", security, name="security"),
    path("own/colours.css", colours, name="colours"),
    path("own/logo/<str:sha256>/", logo, name="logo"),
]
