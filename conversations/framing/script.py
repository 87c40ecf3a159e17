"""``/embed.js``: what another site puts on its pages to open the assistant there."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from conversations.languages import pages
from ieim.administration import selectors as administration
from ieim.pipeline.canonical import digest

FRESH_SECONDS = 300
"""How long a browser may go on with what was set before: languages, colours and sites."""
_COLOUR = "#0d5a6c"


@require_safe
def embed(request: HttpRequest) -> HttpResponseBase:
    """The script: the same for everybody, without a cookie."""
    told = json.dumps(_told(), ensure_ascii=True, separators=(",", ":"))
    text = render_to_string("conversations/framing/embed.js", {"told": told})
    etag = quote_etag(digest(text))
    response = HttpResponse(text, content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    response.headers["ETag"] = etag
    # For sites that let in only what says so.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return get_conditional_response(request, etag=etag, response=response) or response


def _told() -> dict[str, Any]:
    own = administration.current()
    words = {}
    for language in pages.offered():
        with translation.override(language.code):
            words[pages.told(language.code)] = {
                "language": language.code,
                "direction": language.direction,
                "ask": gettext("Ask about a public service"),
                "close": gettext("Close"),
            }
    return {
        "words": words,
        "sites": list(own.other_sites),
        "colour": own.colours.brand if own.colours else _COLOUR,
    }
