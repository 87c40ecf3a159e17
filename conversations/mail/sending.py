"""The two messages. Neither contains the question, the answer, the service or the agency."""

from __future__ import annotations

import logging
import smtplib
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from email.utils import formataddr, parseaddr
from functools import partial
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from conversations.mail import selectors, services
from conversations.mail.models import OPEN, MailRequest, MailState
from conversations.states import TurnState
from conversations.turns.executor import release_connection
from conversations.turns.services import new_secret, secret_digest
from ieim.administration import selectors as administration
from ieim.people.post import hand_over

CONFIRMATION, ANSWER = "confirmation", "answer"


def kind(request: MailRequest) -> str:
    """Return which message a request is due."""
    return CONFIRMATION if request.state == MailState.ASKED else ANSWER


def compose(request: MailRequest, secret: str) -> EmailMessage:
    """Return the message that a request is due, in its language; ``secret`` is that of its link.

    Its ``Message-ID`` is the same at every try, so that a mailbox can tell that it came twice.
    """
    which = kind(request)
    base = settings.IEIM_PUBLIC_URL
    link = base + reverse("conversations:mail_link", args=[secret])
    stop = base + reverse("conversations:mail_link_stop", args=[secret])
    with translation.override(request.language):
        write = _write_confirmation if which == CONFIRMATION else _write_answer
        subject, body = write(site_name(), link, stop)
    composed = message(subject, body, to=[request.address], id=f"{request.pk.hex}.{which}")
    composed.extra_headers |= {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Content-Language": request.language,
    }
    return composed


def site_name() -> str:
    """Return the administration's name, as it can stand in a header."""
    return " ".join(administration.current().name.split())


def message(
    subject: str,
    body: str,
    *,
    to: Sequence[str],
    id: str,  # noqa: A002  # as the header has it
) -> EmailMessage:
    """Return a message of this site; ``id`` is the part of its ``Message-ID`` before the domain."""
    sender = settings.IEIM_MAIL["FROM"]
    domain = parseaddr(sender)[1].rpartition("@")[2]
    return EmailMessage(
        subject=subject,
        body=body,
        from_email=formataddr((site_name(), sender)),
        to=to,
        headers={"Message-ID": f"<{id}@{domain}>", "Auto-Submitted": "auto-generated"},
    )


def _write_confirmation(name: str, link: str, stop: str) -> tuple[str, str]:
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


def _write_answer(name: str, link: str, stop: str) -> tuple[str, str]:
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


logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)
"""How long a send is left alone: longer than a mail server can hold one up."""
PAUSES = tuple(
    timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 6 * 60, 12 * 60, 24 * 60)
)
"""Before each further try; after the last one the request ends."""
AT_ONCE = 20
"""Messages that one sweep queues."""


class Permanent(Exception):
    """The mail server does not take the address or the message; ``args[0]`` is its code."""


class Temporary(Exception):
    """The mail server cannot be reached, or asks to come again; ``args[0]`` says what it was."""


def send_due(*, request_id: UUID) -> None:
    """Send the message that a request is due; nothing where none is, or somebody is at it."""
    claimed = _claim(request_id)
    if claimed is None:
        return
    request, secret = claimed
    release_connection()
    settle: Callable[[MailRequest], None] = _sent
    try:
        _send(request, secret)
    except Permanent as refused:
        logger.warning("The mail server refused a message for good (%s)", refused)
        settle = partial(services.end, state=MailState.REFUSED, code=refused.args[0])
    except Temporary as postponed:
        logger.warning("A message could not be sent (%s); try %s", postponed, request.tries + 1)
        settle = partial(_postpone, why=postponed.args[0])
    with transaction.atomic():
        # Where nobody has ended, erased or claimed it since; its turn is locked.
        mine = services.locked_request(Q(pk=request.pk))
        if mine is not None and mine.lease == request.lease:
            settle(mine)


@transaction.atomic
def _claim(request_id: UUID) -> tuple[MailRequest, str] | None:
    """Claim a message, with a fresh secret for its link: of two who try, one has it."""
    request, now = services.locked_request(Q(pk=request_id)), timezone.now()
    if request is None or request.due_at is None or request.due_at > now:
        return None
    if request.leased_until is not None and request.leased_until >= now:
        return None
    is_confirmation = request.state == MailState.ASKED
    if is_confirmation and services.is_over(request, now):
        return None
    secret = new_secret()
    if is_confirmation:
        request.confirm_sha256 = secret_digest(secret)
    else:
        request.answer_sha256 = secret_digest(secret)
    request.lease, request.leased_until = uuid.uuid4(), now + LEASE
    request.save()
    return request, secret


def _send(request: MailRequest, secret: str) -> None:
    """Hand a message to the mail server. Raises :class:`Permanent` and :class:`Temporary`.

    Only its answer about the address or the message is final: what else it refuses (us, our name,
    our password) is for the operator to mend, and the citizen shall not lose by it.
    """
    try:
        hand_over(compose(request, secret))
    except smtplib.SMTPRecipientsRefused as error:
        code = next(iter(error.recipients.values()))[0]
        raise (Permanent if code >= 500 else Temporary)(code) from None
    except smtplib.SMTPDataError as error:
        raise (Permanent if error.smtp_code >= 500 else Temporary)(error.smtp_code) from None
    except smtplib.SMTPResponseException as error:
        raise Temporary(error.smtp_code) from None
    except Exception as error:  # noqa: BLE001  # whatever it is, its words may hold the address
        raise Temporary(type(error).__name__) from None


def _sent(request: MailRequest) -> None:
    which = kind(request)
    request.due_at = request.lease = request.leased_until = None
    request.save()
    services.record(request, "mail.sent", message=which)
    if which == ANSWER:
        services.end(request, MailState.TOLD)


def _postpone(request: MailRequest, *, why: int | str) -> None:
    if request.tries >= len(PAUSES):
        services.end(request, MailState.UNREACHABLE, code=why)
        return
    request.due_at = timezone.now() + PAUSES[request.tries]
    request.lease = request.leased_until = None
    request.tries += 1
    request.save()
    services.record(request, "mail.postponed", code=why, tries=request.tries)


def sweep(*, now: datetime | None = None, at_start: bool = False) -> int:
    """Notify of answers, end expired requests and queue due messages; returns the number queued.

    ``at_start`` is for a process that is the only worker: every lease is then a dead one.
    """
    now = now or timezone.now()
    if at_start:
        MailRequest.objects.exclude(lease=None).update(lease=None, leased_until=None)
    confirmed = selectors.answered().filter(state=MailState.CONFIRMED.value)
    for pk in list(confirmed.values_list("pk", flat=True)):
        _tell(pk)
    unconfirmed = MailRequest.objects.filter(state=MailState.ASKED.value)
    for pk in list(
        unconfirmed.filter(asked_at__lte=now - services.VALID).values_list("pk", flat=True)
    ):
        _end(pk, MailState.ASKED, MailState.EXPIRED)
    # A dismissal may be undone: not at once.
    waiting = MailRequest.objects.filter(
        state=MailState.CONFIRMED.value,
        turn__state=TurnState.CLOSED.value,
        turn__updated_at__lte=now - services.VALID,
    )
    for pk in list(waiting.values_list("pk", flat=True)):
        _end(pk, MailState.CONFIRMED, MailState.CLOSED)
    free = MailRequest.objects.filter(Q(leased_until=None) | Q(leased_until__lt=now))
    due = free.filter(state__in=OPEN, due_at__lte=now).order_by("due_at")
    queued = list(due.values_list("pk", flat=True)[:AT_ONCE]) if selectors.is_configured() else []
    for pk in queued:
        services.queue(pk)
    return len(queued)


@transaction.atomic
def _tell(request_id: UUID) -> None:
    request = services.locked_request(Q(pk=request_id))
    if request is None or request.state != MailState.CONFIRMED:
        return
    request.state, request.due_at, request.tries = MailState.TELLING.value, timezone.now(), 0
    request.save()
    services.record(request, "mail.due")


@transaction.atomic
def _end(request_id: UUID, old: MailState, new: MailState) -> None:
    request = services.locked_request(Q(pk=request_id))
    if request is not None and request.state == old:
        services.end(request, new)
