"""New passwords: only the owner sets one, by a link.

An owner requests the link, or an administrator has it sent, or is shown it once to hand it over.
The link is Django's: it is valid for a day, once, and not after the password, the address or the
last login has changed. It opens no
session, so a second factor is asked for as ever. Accounts of the OpenID provider have no password,
and get no link on request. Neither the page nor its response time shows whether there is an
account: a worker looks for it and sends the link.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from allauth.core import ratelimit
from celery import current_app
from django.conf import settings
from django.contrib.auth import views as auth_views
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

SEND_TASK = "ieim.people.tasks.send_reset"


class LinkNotSent(Exception):
    """No link was sent; the message is a sentence that says what to do."""


def can_reset() -> bool:
    """Whether passwords are in use, and there is a mail server for links."""
    return bool(settings.IEIM_PASSWORDS and settings.IEIM_MAIL["HOST"])


def send_links(address: str) -> None:
    """Send a link to each account that has this address and a password."""
    for user in PasswordResetForm().get_users(address):
        record_of(user, "people.reset_asked", actor="system")
        with suppress(post.NotSent):  # logged; the owner can request another one
            _send(user)


def send_link(*, user: User, by: User) -> None:
    """Send an account's owner a link on behalf of an administrator, and record it.

    Raises:
        LinkNotSent: there is no address, no mail server, or it does not accept the message.
    """
    if not (user.email and user.is_active and can_reset()):
        raise LinkNotSent(
            _("A link is sent to an active account with an e-mail address, by a mail server.")
        )
    try:
        _send(user, _("{who} had it sent to you.").format(who=by.display_name))
    except post.NotSent as error:
        raise LinkNotSent(_("The mail server did not take the message. Send it again.")) from error
    record_of(user, "people.password_link_sent", actor=by.actor)


def show_link(*, user: User, by: User) -> str:
    """Return the path of a link that an administrator hands over to an account's owner.

    The password so far and every earlier link end at once: nobody gets into an account by such a
    link without its owner noticing.

    Raises:
        LinkNotSent: passwords are not in use, or the account is switched off.
        NotAllowed: the rule refuses it.
    """
    if not settings.IEIM_PASSWORDS:
        raise LinkNotSent(_("Passwords are not in use here (IEIM_PASSWORDS)."))
    if not user.is_active:
        raise LinkNotSent(_("The account is switched off. Switch it on first."))
    with changing(user.pk, by=by):
        user.set_unusable_password()
        user.save(update_fields=["password"])
        record_of(user, "people.password_link_shown", actor=by.actor)
    return _path(user)


def _path(user: User) -> str:
    key = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    return reverse("password_reset_confirm", args=key)


def _send(user: User, *notes: str) -> None:
    """Send a link. Raises :class:`~ieim.people.post.NotSent`."""
    intro = _("With this link you set the password of your account {name}:")
    paragraphs = (
        intro.format(name=user.get_username()),
        settings.IEIM_PUBLIC_URL + _path(user),
        " ".join([_("It holds for a day, and once."), *notes]),
        _("If you do not expect it, do nothing: your password stays as it is."),
    )
    post.send(subject=_("Set a password"), paragraphs=paragraphs, to=[user.email])


class _NeedsReset:
    """Mixin: 404 unless passwords can be reset, by e-mail where ``needs_mail``."""

    needs_mail = True

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        if not (can_reset() if self.needs_mail else settings.IEIM_PASSWORDS):
            raise Http404
        return super().dispatch(*args, **kwargs)  # type: ignore[misc]  # of the view


class PasswordResetView(_NeedsReset, auth_views.PasswordResetView):
    """Request a link."""

    template_name = "registration/reset.html"

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        """Queue the link, and answer the same for every address."""
        address = form.cleaned_data["email"]
        if ratelimit.consume(self.request, action="reset_password", key=address.lower()):
            try:
                current_app.send_task(SEND_TASK, args=[address])
            except Exception:
                logger.exception("A link for a new password could not be queued")
        return redirect("password_reset_done")


class PasswordResetDoneView(_NeedsReset, auth_views.PasswordResetDoneView):
    """Say that a link was sent, if there is such an account."""

    template_name = "registration/reset_asked.html"


class PasswordResetConfirmView(_NeedsReset, auth_views.PasswordResetConfirmView):
    """Set a new password, which ends every session of the account."""

    needs_mail = False
    template_name = "registration/reset_confirm.html"
    success_url = reverse_lazy("login")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, can_reset=can_reset())

    def get_user(self, uidb64: str) -> User | None:
        """Return the owner of the link, None if there is no active account."""
        user: User | None = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: Form) -> HttpResponse:
        user: Any = self.user
        with changing(user.pk, by=user):
            return super().form_valid(form)  # type: ignore[arg-type]  # a form for a password
