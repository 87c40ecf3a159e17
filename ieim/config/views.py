"""What belongs to no app: where staff go after logging in, and pages for what cannot be."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render


def staff_home(request: HttpRequest) -> HttpResponse:
    """Send staff to their work: the queue, the knowledge, or else the admin.

    403 for whom nobody has given a role yet.
    """
    if not request.user.get_all_permissions():
        raise PermissionDenied
    if request.user.has_perm("review.view_reviewitem"):
        return redirect("review:queue")
    editor = request.user.has_perm("knowledge.view_release")
    return redirect("knowledge:home" if editor else "admin:index")


def no_nul_in_addresses(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an address with a NUL in it is of nothing, and PostgreSQL cannot look for it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\0" in request.path:
            raise Http404
        return get_response(request)

    return middleware


def wrong_method_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an empty 405 becomes a page.

    People get there: the address of a form that was refused, opened again, or where somebody was
    logged out before sending it. A browser shows an empty answer as a fault of the site.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            page = render(request, "405.html", status=405)
            response.content = page.content
        return response

    return middleware
