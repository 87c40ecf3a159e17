"""The page of the settings, and what other pages fetch of them: the colours and the logo."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import timedelta

from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings as django_settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.administration import languages, selectors, services
from ieim.administration.contrast import is_colour
from ieim.administration.forms import LEGAL, SECTIONS, SectionForm
from ieim.administration.models import Logo
from ieim.administration.organisation import Administration, Colours
from ieim.administration.templatetags.administration import PREVIEWED
from ieim.people.access import member
from ieim.pipeline import contract as contracts
from ieim.pipeline.topology import FIRST

IMMUTABLE = "public, max-age=31536000, immutable"
LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For a logo that is opened by itself: it runs and fetches nothing."""
SECURITY_DAYS = 90
"""Days until the contact for security researchers has to be read again."""
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@require_safe
def settings(request: HttpRequest) -> HttpResponse:
    """Show every section as it is stored, and the settings that are missing."""
    code = request.GET.get("language", "")
    return _page(request, code if code in languages.NAMES else selectors.offered_languages()[0])


@require_POST
def save(request: HttpRequest, section_name: str) -> HttpResponse:
    """Save a section: 303 back to it, 422 with its errors, 409 if somebody else was quicker."""
    form, by = _posted(request, section_name), member(request)
    if not form.is_valid():
        return _page_with(request, form)
    try:
        services.change(form=form, version=form.version, by=by)
    except services.Conflict as conflict:
        form.row, form.initial = conflict.stored, conflict.stored.content
        form.version, form.has_conflict = conflict.stored.version, True
        return _page_with(request, form)
    message = gettext("{section}: saved. Every page shows it from now on.")
    messages.success(request, message.format(section=form.title))
    query = f"?{urlencode({'language': form.language})}" if form.language else ""
    url = f"{reverse('administration:settings')}{query}#{form.section}"
    return HttpResponseRedirect(url, status=303)


# A picture that is not stored yet has no address.
@require_POST
@csp_update({"img-src": [SELF, "data:"]})  # type: ignore[arg-type]  # a list, as settings have it
def preview(request: HttpRequest, section_name: str) -> HttpResponse:
    """Show the citizen's page with the posted section, unsaved; 422 as :func:`save`."""
    form = _posted(request, section_name)
    if not form.is_valid():
        return _page_with(request, form)
    organisation = Administration({**selectors.current().sections, form.section: form.content})
    picture, logo_url = form.picture, ""
    if picture is not None:
        logo_url = f"data:{picture.media_type};base64,{b64encode(bytes(picture.content)).decode()}"
    language = form.language or organisation.languages[0]
    context = {
        PREVIEWED: organisation,
        "form": form,
        "unsaved_logo": logo_url,
        "legal": organisation.legal(language),
        "examples": organisation.examples(language),
        "persona": contracts.load(FIRST, organisation.persona).persona,
    }
    return render(request, "administration/preview.html", context)


def _posted(request: HttpRequest, section_name: str) -> SectionForm:
    """Return the form of a section with the posted texts, and the version that its author saw.

    Raises:
        Http404: there is no such section.
        BadRequest: the hidden field of the logo is no digest.
    """
    if section_name not in SECTIONS:
        raise Http404
    row = selectors.sections().get(section_name)
    form = SECTIONS[section_name](row, request.POST, request.FILES)
    logo = request.POST.get("logo", "") if "logo" in form.fields else ""
    if logo and not _DIGEST.fullmatch(logo):
        raise BadRequest("The field logo is no digest. Open the settings again.")
    version = request.POST.get("version", "")
    is_number = version.isascii() and version.isdigit() and len(version) < 9
    form.version = int(version) if is_number else 0
    return form


def _page_with(request: HttpRequest, form: SectionForm) -> HttpResponse:
    return _page(request, form.language or selectors.offered_languages()[0], form)


def _page(request: HttpRequest, language: str, posted: SectionForm | None = None) -> HttpResponse:
    """Return the page with all sections, of the legal texts only those in one language."""
    rows, legal = selectors.sections(), LEGAL + language
    forms = [
        posted if posted and posted.section == name else form(rows.get(name))
        for name, form in SECTIONS.items()
        if name == legal or not name.startswith(LEGAL)
    ]
    organisation = selectors.current()
    context = {
        "forms": forms,
        "posted": posted,
        "missing": selectors.missing(organisation),
        "mail": bool(django_settings.IEIM_MAIL["HOST"]),
        "legal_section": legal,
        "legal_languages": [
            (code, languages.NAMES[code], code == language)
            for code in dict.fromkeys([*organisation.languages, language])
        ],
    }
    status = 200 if posted is None else 409 if posted.has_conflict else 422
    return render(request, "administration/settings.html", context, status=status)


@require_safe
def colours(request: HttpRequest) -> HttpResponse:
    """Return the colours as custom properties; immutable at the address of a version."""
    current = selectors.current().colours
    response = _style_sheet(request, current)
    is_current = current is not None and request.GET.get("v", "") == current.version
    response["Cache-Control"] = IMMUTABLE if is_current else "no-cache"
    return response


@require_safe
def preview_colours(request: HttpRequest) -> HttpResponse:
    """Return the style sheet of colours that are not saved."""
    brand, dark = (request.GET.get(name, "") for name in ("brand", "dark"))
    valid = is_colour(brand) and is_colour(dark)
    return _style_sheet(request, Colours(brand, dark) if valid else None)


def _style_sheet(request: HttpRequest, colours: Colours | None) -> HttpResponse:
    context = {"colours": colours}
    return render(request, "administration/colours.css", context, content_type="text/css")


@require_safe
def logo(request: HttpRequest, sha256: str) -> HttpResponse:
    """Return a logo by its digest."""
    row = Logo.objects.filter(pk=sha256).first() if _DIGEST.fullmatch(sha256) else None
    if row is None:
        raise Http404
    headers = {
        "Cache-Control": IMMUTABLE,
        "Content-Security-Policy": LOGO_POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(bytes(row.content), content_type=row.media_type, headers=headers)


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Return the contact for security researchers (RFC 9116); 404 while the settings have neither
    an e-mail address nor a web page."""
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
    if django_settings.IEIM_PUBLIC_URL:
        lines.append(f"Canonical: {django_settings.IEIM_PUBLIC_URL}{request.path}")
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
