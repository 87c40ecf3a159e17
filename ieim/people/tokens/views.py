"""The page of tokens: the list, the form for a new one, and revoking one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from ieim.people.access import member
from ieim.people.models import EVERY_AGENCY, Token, User
from ieim.people.scope import agencies_of, known_agencies
from ieim.people.tokens import selectors, services
from ieim.people.tokens.scopes import SCOPES, offered

DAYS = 90
"""The default life of a token in days."""
MAX_ENDED = 50
"""Number of ended tokens on the page, the newest first."""


@require_safe
def tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens that the user may revoke, with the form for a new one."""
    return _page(request, TokenForm(member(request)))


@sensitive_variables("text")
@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Make a token and show it once: 201, or 422 with the errors.

    No redirect: the token would have to be stored until the next page shows it.
    """
    by = member(request)
    form = TokenForm(by, request.POST)
    if form.is_valid():
        try:
            token, text = services.make(by=by, **form.cleaned_data)
        except services.Refused as refused:
            form.add_error(None, str(refused))
        else:
            return _page(request, TokenForm(by), status=201, made=token, text=text)
    return _page(request, form, status=422)


@require_POST
def revoke(request: HttpRequest, token: UUID) -> HttpResponse:
    """Revoke a token; 404 for one that the user may not revoke."""
    try:
        revoked = services.revoke(token_id=token, by=member(request))
    except Token.DoesNotExist as error:
        raise Http404 from error
    message = gettext("The token {prefix} is revoked: it opens nothing any more.")
    messages.success(request, message.format(prefix=revoked.prefix))
    response = redirect("tokens:tokens")
    response.status_code = 303
    return response


def _page(request: HttpRequest, form: TokenForm, status: int = 200, **extra: Any) -> HttpResponse:
    now, by = timezone.now(), member(request)
    rows = selectors.listed(by)
    valid = rows.filter(revoked_at=None, expires_at__gt=now)
    names = known_agencies()
    context = {
        "form": form,
        "valid": [_row(token, names) for token in valid],
        "over": [_row(token, names) for token in rows.exclude(pk__in=valid)[:MAX_ENDED]],
        "may_make": by.has_perm(services.MAY_MAKE),
        "everybodys": by.has_perm("people.delete_token"),
        **extra,
    }
    return render(request, "people/tokens.html", context, status=status)


def _row(token: Token, names: Any) -> dict[str, Any]:
    return {
        "token": token,
        "scopes": [SCOPES[name].description if name in SCOPES else name for name in token.scopes],
        "agencies": [
            gettext("Every agency of theirs")
            if agency == EVERY_AGENCY
            else names.get(agency, agency)
            for agency in token.agencies
        ],
    }


class TokenForm(forms.Form):
    """A new token; its choices are the scopes and agencies of its maker."""

    name = forms.CharField(
        max_length=100,
        error_messages={"required": gettext_lazy("Say which program it is for.")},
    )
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose what the program may do.")},
    )
    agencies = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose for which agencies it works.")},
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=services.MAX_DAYS,
        initial=DAYS,
        error_messages={"required": gettext_lazy("Say after how many days it ends.")},
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = agencies_of(user)
        agencies = [
            (agency, name)
            for agency, name in known_agencies().items()
            if allowed is None or agency in allowed
        ]
        choices: dict[str, list[tuple[str, Any]]] = {
            "scopes": [(name, scope.description) for name, scope in offered(user).items()],
            "agencies": [(EVERY_AGENCY, gettext("Every agency that I work for")), *agencies],
        }
        for name, field_choices in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # declared so
            field.choices = field_choices


app_name = "tokens"
urlpatterns = [
    path("", tokens, name="tokens"),
    path("make/", make, name="make"),
    path("<uuid:token>/revoke/", revoke, name="revoke"),
]
