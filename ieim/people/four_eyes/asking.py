"""Rights that need a second administrator (see ``rights.py``): held back, and asked for.

Where there is only one, what they give stands at once. Supervisors are told of all that is given.
"""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from ieim.audit.audited import moved
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people import post
from ieim.people.accounts import Account
from ieim.people.audited import GRANT, Standing, rows_of
from ieim.people.four_eyes import rights
from ieim.people.models import Grant, User
from ieim.people.roles import Role


def hold_back(before: Account | None, after: Account, by: User) -> list[Grant]:
    """Take back what ``by`` has just given and a second administrator has to agree to.

    Returns the unsaved requests for it, which :func:`ask` saves once the rest is on the record.
    What stands already (where there is no second administrator, and rights to second opinions) is
    a request in the state ``ALONE``.
    """
    raised = rights.raised(before, after, by)
    seconding = sorted(rights.seconding(after) - rights.seconding(before) - {*raised})
    grant = Grant(user_id=after.pk, rights=raised, asked_by=by, asked_at=timezone.now())
    if rights.administrators().exclude(pk__in=[by.pk, after.pk]).exists():
        rights.take_back(before, after, raised)
        alone = Grant(user_id=after.pk, rights=seconding, asked_by=by, asked_at=grant.asked_at)
    else:
        grant.rights += seconding
        alone, grant = grant, Grant(rights=[])
    alone.state = Grant.State.ALONE
    return [request for request in (grant, alone) if request.rights]


def ask(grant: Grant, by: User) -> None:
    """Save a request, or that one administrator gave the rights alone, with its audit event."""
    grant.address = grant.user.email
    same = Q(user=grant.user, rights=grant.rights, state=Grant.State.ASKED)
    before = rows_of(GRANT, same)
    Grant.objects.filter(
        same
    ).delete()  # asked again: what was asked before may name an earlier address
    grant.save()
    if grant.state == Grant.State.ALONE:
        record_grant("people.rights_given_alone", grant, by, before)
        transaction.on_commit(lambda: tell(grant), robust=True)
    else:
        record_grant("people.rights_asked", grant, by, before)


def record_grant(kind: str, grant: Grant, by: User, before: Standing) -> None:
    """Record a request and what else became of the rows ``before``."""
    shown = [right for right in grant.rights if not right.startswith("address:")]
    if len(shown) < len(grant.rights):
        shown.append("address")  # of whom it is, the record does not keep
    payload: dict[str, JSONValue] = {
        "grant": grant.pk,
        "user": grant.user_id,
        "username": grant.user.get_username(),
        "rights": [*shown],
    }
    rows = moved(before, rows_of(GRANT, Q(pk=grant.pk)))
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=by.actor, **rows)


def tell(grant: Grant) -> None:
    """Send every supervisor a message of rights that were given."""
    sentence = _("{who} gave {whom} {rights}. Ask them about it if you did not expect it.")
    givers = filter(None, (grant.asked_by, grant.decided_by))
    told = sentence.format(
        who=" + ".join(giver.display_name for giver in givers),
        whom=grant.user.get_username(),
        rights=", ".join(map(rights.in_words, grant.rights)),
    )
    parts = (told, settings.IEIM_PUBLIC_URL + reverse("review:queue"))
    supervisors = User.objects.filter(groups__name=Role.SUPERVISOR.value, is_active=True)
    for address in supervisors.exclude(email="").values_list("email", flat=True).distinct():
        with suppress(post.NotSent):
            post.send(subject=_("Somebody was given rights"), parts=parts, to=address)
