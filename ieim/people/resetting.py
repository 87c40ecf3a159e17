"""A new password: its owner gets a link by e-mail and sets it, and nobody else does.

They ask for it who have forgotten theirs, or an administrator has it sent. The link is Django's: it
holds for a day, once, and not after the password, the address or the last login has changed. It
opens no session, so a second factor is asked for as ever. Whom the OpenID provider vouches for has
no password, and gets no link when asking. Whether there is such an account, neither the page says
nor the time that it takes: a worker looks and sends.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from allauth.core import ratelimit
from celery import current_app
from django.conf import settings
from django.contrib.auth import views
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import default_token_generator
from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from ieim.people import post
from ieim.people.audited import record_of
from ieim.people.models import User
from ieim.people.services import changing

logger = logging.getLogger(__name__)

SEND = "ieim.people.tasks.send_reset"


class NoLink(Exception):
    """No link was sent; the message is a sentence that says what to do."""


def offered() -> bool:
    """Whether there are passwords, and a mail server to send a link with."""
    return bool(settings.IEIM_PASSWORDS and settings.IEIM_MAIL["HOST"])


def send(address: str) -> None:
    """Send a link to each account with this address that has a password."""
    for user in PasswordResetForm().get_users(address):
        record_of(user, "people.reset_asked", actor="system")
        with suppress(post.NotSent):  # it is logged, and they ask again
            _send(user)


def send_link(*, user: User, by: User) -> None:
    """Send an account's owner a link to choose a password, and record it. Raises NoLink."""
    at_the_machine = _("Or at the machine: manage.py changepassword {name}").format(
        name=user.get_username()
    )
    if not user.email:
        raise NoLink(_("The account has no e-mail address for a link.") + f" {at_the_machine}")
    if not offered():
        sentence = _("There is no mail server (IEIM_SMTP_HOST) to send a link to the owner.")
        raise NoLink(f"{sentence} {at_the_machine}")
    try:
        _send(user, _("{who} had it sent to you.").format(who=by.display_name))
    except post.NotSent as error:
        raise NoLink(_("The mail server did not take the message. Send it again.")) from error
    record_of(user, "people.password_link_sent", actor=by.actor)


def _send(user: User, *why: str) -> None:
    """Send a link. Raises :class:`~ieim.people.post.NotSent`."""
    key = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    whose = _("With this link you set the password of your account {name}:")
    parts = (
        whose.format(name=user.get_username()),
        settings.IEIM_PUBLIC_URL + reverse("password_reset_confirm", args=key),
        " ".join([_("It holds for a day, and once."), *why]),
        _("If you do not expect it, do nothing: your password stays as it is."),
    )
    post.send(subject=_("Set a password"), parts=parts, to=user.email)


class _WhereOffered:
    """No address where there is nothing to reset, or no mail server."""

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        """Answer a request. Raises Http404."""
        if not offered():
            raise Http404
        return super().dispatch(*args, **kwargs)  # type: ignore[misc]  # the view's, beside it


class Ask(_WhereOffered, views.PasswordResetView):
    """Ask for a link."""

    template_name = "registration/reset.html"

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        """Have a link sent, and say the same whoever asks for whom."""
        address = form.cleaned_data["email"]
        if ratelimit.consume(self.request, action="reset_password", key=address.lower()):
            try:
                current_app.send_task(SEND, args=[address])
            except Exception:
                logger.exception("A link for a new password could not be queued")
        return redirect("password_reset_done")


class Asked(_WhereOffered, views.PasswordResetDoneView):
    """Say that a link was sent, if there is such an account."""

    template_name = "registration/reset_asked.html"


class Confirm(_WhereOffered, views.PasswordResetConfirmView):
    """Set a new password, which ends every session of the account."""

    template_name = "registration/reset_confirm.html"
    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> User | None:
        """Return whose link it is; None where there is no such account, or it is switched off."""
        user: User | None = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: Form) -> HttpResponse:
        user: Any = self.user
        with changing(user.pk, by=user):
            return super().form_valid(form)  # type: ignore[arg-type]  # a form for a password
