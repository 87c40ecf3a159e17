"""The languages that a member of staff reads: what they choose on the page of their sign-in."""

from __future__ import annotations

from collections.abc import Sequence

from babel import Locale
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST

from ieim.people.access import member
from ieim.people.models import User
from ieim.pipeline.message.language import detectable


def language_name(code: str) -> str:
    """Return a language's name in that of the page; a code that has none is shown as it is."""
    return str(Locale.parse(get_language() or "en", sep="-").languages.get(code, code))


def choices(user: User) -> Sequence[tuple[str, str, bool]]:
    """Return the code and the name of each language of messages, and whether the user reads it."""
    names = sorted((name, code) for code in detectable() if (name := language_name(code)) != code)
    return [(code, name, code in (user.languages or ())) for name, code in names]


@require_POST
def save_languages(request: HttpRequest) -> HttpResponse:
    """Store the languages that the user reads; codes that no message has change nothing."""
    user = member(request)
    chosen = set(request.POST.getlist("language"))
    if chosen <= detectable():
        User.objects.filter(pk=user.pk).update(languages=sorted(chosen))
        messages.success(request, gettext("Saved."))
    else:
        messages.error(request, gettext("Choose the languages from the list."))
    return redirect("sessions")
