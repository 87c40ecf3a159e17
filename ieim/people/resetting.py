"""Passwords of others: nobody sets one. A link to choose it goes to the owner's address.

Django makes and checks the link. It is good once, for ``PASSWORD_RESET_TIMEOUT``, and not after the
address has changed.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.db import transaction
from django.http import HttpResponse
from django.urls import path, reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people import post
from ieim.people.models import User
from ieim.people.services import changing


class NoLink(Exception):
    """No link was sent; the message is a sentence that says what to do."""


def send_link(*, user: User, by: User) -> None:
    """Send an account's owner a link to choose a password, and record it. Raises NoLink."""
    at_the_machine = _("Or at the machine: manage.py changepassword {name}").format(
        name=user.get_username()
    )
    if not user.email:
        raise NoLink(_("The account has no e-mail address for a link.") + f" {at_the_machine}")
    if not post.is_configured():
        sentence = _("There is no mail server (IEIM_SMTP_HOST) to send a link to the owner.")
        raise NoLink(f"{sentence} {at_the_machine}")
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    parts = (
        _("With this link you choose the password of your account {name}:").format(
            name=user.get_username()
        ),
        settings.IEIM_PUBLIC_URL + reverse("new_password", args=[uid, token]),
        _("It is good for 24 hours, and once. {who} had it sent to you.").format(
            who=by.display_name
        ),
        _("If you do not expect it, do nothing, and tell whoever runs this site."),
    )
    try:
        post.send(subject=_("choose a password"), parts=parts, to=user.email)
    except post.NotSent as error:
        raise NoLink(_("The mail server did not take the message. Send it again.")) from error
    with transaction.atomic():
        record(
            chain=PEOPLE_CHAIN,
            kind="people.password_link_sent",
            payload={"user": user.pk, "username": user.get_username()},
            actor=by.actor,
        )


class NewPassword(PasswordResetConfirmView):
    """The page that the link opens."""

    template_name = "registration/new_password.html"
    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> User | None:
        """Return whose link it is; None where there is no such account, or it is switched off."""
        user: User | None = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: SetPasswordForm[Any]) -> HttpResponse:
        """Save the password."""
        user: User = form.user
        with changing(user.pk, by=user):
            return super().form_valid(form)


urlpatterns = [path("<uidb64>/<token>/", NewPassword.as_view(), name="new_password")]
