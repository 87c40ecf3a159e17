"""What pages fetch of the settings: the colours as a style sheet, and the logo."""

from __future__ import annotations

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from ieim.administration import selectors
from ieim.administration.contrast import is_colour
from ieim.administration.own import Colours

FOR_EVER = "public, max-age=31536000, immutable"
LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For whoever opens the logo by itself: it runs and fetches nothing."""
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@require_safe
def colours(request: HttpRequest) -> HttpResponse:
    """The colours that are set, as custom properties; kept for ever at the address of a version."""
    own = selectors.current().colours
    response = _sheet(request, own)
    asked = request.GET.get("v", "")
    is_this = own is not None and asked == own.version
    response["Cache-Control"] = FOR_EVER if is_this else "no-cache"
    return response


@never_cache
@require_safe
def preview_colours(request: HttpRequest) -> HttpResponse:
    """Colours that are looked at and not saved."""
    brand, dark = (request.GET.get(name, "") for name in ("brand", "dark"))
    known = is_colour(brand) and is_colour(dark)
    return _sheet(request, Colours(brand, dark) if known else None)


@require_safe
def logo(request: HttpRequest, sha256: str) -> HttpResponse:
    """A logo, by its digest."""
    found = selectors.logo(sha256) if _DIGEST.fullmatch(sha256) else None
    if found is None:
        raise Http404
    response = HttpResponse(bytes(found.content), content_type=found.media_type)
    response["Cache-Control"] = FOR_EVER
    response["Content-Security-Policy"] = LOGO_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _sheet(request: HttpRequest, colours: Colours | None) -> HttpResponse:
    context = {"colours": colours}
    return render(request, "administration/colours.css", context, content_type="text/css")
