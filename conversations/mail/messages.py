"""The two messages. Neither says what was asked or answered, of whom, or about what."""

from __future__ import annotations

from email.utils import formataddr, parseaddr

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from conversations.mail.models import MailRequest, MailState
from ieim.administration import selectors as administration

CONFIRMATION, ANSWER = "confirmation", "answer"


def kind(request: MailRequest) -> str:
    """Return which message a request is due."""
    return CONFIRMATION if request.state == MailState.ASKED else ANSWER


def compose(request: MailRequest, secret: str) -> EmailMessage:
    """Return the message that a request is due, in its language; ``secret`` is that of its link.

    Its ``Message-ID`` is the same at every try, so that a mailbox can tell that it came twice.
    """
    which = kind(request)
    name = " ".join(administration.current().name.split())
    base = settings.IEIM_PUBLIC_URL
    link = base + reverse("conversations:mail_link", args=[secret])
    stop = base + reverse("conversations:mail_link_stop", args=[secret])
    with translation.override(request.language):
        write = _confirmation if which == CONFIRMATION else _answer
        subject, body = write(name, link, stop)
    sender = settings.IEIM_MAIL["FROM"]
    domain = parseaddr(sender)[1].rpartition("@")[2]
    return EmailMessage(
        subject=subject,
        body=body,
        from_email=formataddr((name, sender)),
        to=[request.address],
        headers={
            "Message-ID": f"<{request.pk.hex}.{which}@{domain}>",
            "Auto-Submitted": "auto-generated",
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Content-Language": request.language,
        },
    )


def _confirmation(name: str, link: str, stop: str) -> tuple[str, str]:
    subject = _("{name}: confirm your e-mail address").format(name=name)
    parts = (
        _(
            "Somebody, probably you, asked {name} to send a message to this address when there is "
            "an answer to their question."
        ),
        _("If it was you, open this link and press the button. The link is valid for 24 hours:"),
        link,
        _("If it was not you, do nothing. You get no other message, and your address is erased."),
        _("To have your address erased at once, open this link:"),
        stop,
        _("A program sent this message. Nobody reads replies to it."),
    )
    return subject, _joined(parts, name)


def _answer(name: str, link: str, stop: str) -> tuple[str, str]:
    subject = _("{name}: there is an answer for you").format(name=name)
    parts = (
        _("There is an answer for you from {name}."),
        link,
        _(
            "Open the link in the browser in which you asked. On another device, open the private "
            "link that you kept. To protect you, this message does not say what it is about."
        ),
        _("You get no other message about this, and your address is erased now."),
        _("If you want no e-mail about this conversation any more, open this link:"),
        stop,
        _("A program sent this message. Nobody reads replies to it."),
    )
    return subject, _joined(parts, name)


def _joined(parts: tuple[str, ...], name: str) -> str:
    # Not one format over all: a name may have braces in it.
    return "\n\n".join(part.replace("{name}", name) for part in parts) + "\n"
