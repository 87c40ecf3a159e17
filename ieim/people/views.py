"""The page of rights that wait for a second administrator."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from ieim.people import selectors
from ieim.people.access import member
from ieim.people.four_eyes import agreeing
from ieim.people.models import Grant
from ieim.people.services import NotAllowed


@require_safe
def shown(request: HttpRequest) -> HttpResponse:
    """What waits, and what one administrator gave alone."""
    context = {"waiting": selectors.waiting(), "given_alone": selectors.given_alone()}
    return render(request, "people/rights.html", context)


@require_POST
def agree(request: HttpRequest, grant_id: int) -> HttpResponse:
    """Give the rights: back to the page, which says what became of it."""
    return _decided(request, grant_id, agreeing.agree, gettext("{name} has the rights now."))


@require_POST
def refuse(request: HttpRequest, grant_id: int) -> HttpResponse:
    """Refuse them, or withdraw the request."""
    return _decided(request, grant_id, agreeing.refuse, gettext("{name} does not get the rights."))


def _decided(
    request: HttpRequest, grant_id: int, decide: Callable[..., Grant], said: str
) -> HttpResponse:
    try:
        grant = decide(grant_id=grant_id, by=member(request))
    except Grant.DoesNotExist as error:
        raise Http404 from error
    except NotAllowed as why:
        messages.error(request, str(why))
    else:
        messages.success(request, said.format(name=grant.user.get_username()))
    return redirect("people:rights")


app_name = "people"
urlpatterns = [
    path("", shown, name="rights"),
    path("<int:grant_id>/agree/", agree, name="agree"),
    path("<int:grant_id>/refuse/", refuse, name="refuse"),
]
