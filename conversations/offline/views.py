"""The page for who has no connection, and the service worker that keeps it in the browser.

The worker keeps this page, its style sheets and nothing else: no word of a conversation.
"""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

PAGES = ("chat", "person", "help", "accessibility", "privacy")
"""The pages in whose place it is shown. Staff have the browser's own message."""

_SHEET = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_SCRIPT = re.compile(r'<script src="([^"]+)"')


@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Say that there is no connection, what was kept, and how to go on."""
    return HttpResponse(_rendered(request))


@never_cache
@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Return the worker's script (Service Workers, W3C), with the page of this browser's language.

    Browsers install a worker anew when a byte of it has changed. So it has the page's digest in it:
    in another language, or after a change of the settings, the page is kept anew.
    """
    html = _rendered(request)
    content = {
        "version": hashlib.sha256(html.encode()).hexdigest()[:16],
        "page": reverse("conversations:offline"),
        "parts": [unescape(each) for each in (*_SHEET.findall(html), *_SCRIPT.findall(html))],
        "places": [reverse(f"conversations:{name}") for name in PAGES],
    }
    script = render_to_string("conversations/offline/worker.js", {"kept": json.dumps(content)})
    return HttpResponse(script, content_type="text/javascript; charset=utf-8")


def _rendered(request: HttpRequest) -> str:
    return render_to_string("conversations/offline/offline.html", {}, request)
