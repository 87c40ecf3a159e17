"""The private link: opening a conversation by it, and its page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from conversations import selectors
from conversations.chat import cookies, wording
from conversations.languages import pages
from conversations.returning import links


@never_cache
@require_safe
def private_link(request: HttpRequest) -> HttpResponse:
    """The private link of this browser's conversation as a QR code.

    The address of the page has no secret in it, and nothing keeps what it shows. Without a
    conversation there is nothing to show: back to the empty page.
    """
    secret = cookies.secret_of_request(request)
    session = selectors.session_for_secret(secret) if secret else None
    if session is None:
        return redirect("conversations:chat")
    path, base_url = f"/c/{secret}/", links.base_url(request)
    context = {
        "reference": session.reference,
        "resume_path": path,
        "base_url": base_url,
        "words": wording.words(pages.current()),
        "code": links.qr_code(f"{base_url}{path}"),
    }
    return render(request, "conversations/returning/private_link.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, secret: str) -> HttpResponse:
    """Open a conversation by its private link: take it into the cookie and out of the address.

    Only after a press of a button: a link that another site makes a browser follow must not put
    that citizen's next question into somebody else's conversation.
    """
    session = selectors.session_for_secret(secret)
    if session is None:
        # Not Http404: with DEBUG on, citizens' own mistakes would end on Django's page for faults.
        return render(request, "404.html", status=404)
    if request.method != "POST":
        told = {"reference": session.reference}
        response = render(request, "conversations/chat/resume.html", told)
        # The address is the secret: of this page not even our own log gets it as a Referer. With
        # "no-referrer" the form below would have no Origin, and would be taken for a forgery.
        response.headers["Referrer-Policy"] = "strict-origin"
        return response
    response = redirect("conversations:chat")
    response.status_code = 303
    cookies.put(response, secret)
    return response
