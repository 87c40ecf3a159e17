"""Signing what a person decided for several agencies."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from ieim.audit import services as audit
from ieim.people.models import User
from ieim.people.scope import agencies_of
from review.corrections import records
from review.deciding import actions, locking, making
from review.deciding.errors import Conflict, Refused
from review.deciding.signing import second, signing
from review.models import ReviewItem, SignOff
from review.vouched import SIGN_OFF


@transaction.atomic
def sign(*, item_id: UUID, actor: User, version: int, agency: str, reason: str) -> SignOff:
    """Sign an agency's part of a decision that waits for it; the last signature lets it happen.

    No claim is needed: the words are another's and stay as they are. Raises
    ``ReviewItem.DoesNotExist``, :class:`Conflict` and :class:`Refused`.
    """
    now = timezone.now()
    item = locking.find(item_id, actor, lock=True)
    locking.require_version(item, version)
    if locking.held_by_other(item, actor, now):
        raise Conflict(locking.claim_problem(item, actor, now))
    reason = locking.checked_reason(reason)
    _require_signable(item, actor, agency)
    proposal = second.proposal_of(item)
    if proposal is None or not signing.waits(item, proposal):
        raise Refused(gettext("There is nothing to sign: somebody has to decide the item first."))
    signature = SignOff.objects.create(item=item, agency=agency, by_id=actor.pk, reason=reason)
    audit.record(
        chain=item.turn.session_id,
        kind="review.signed",
        actor=records.actor_of(actor),
        payload={
            "item": str(item.pk),
            "decision": str(proposal.pk),
            "agency": agency,
            "reason_sha256": hashlib.sha256(reason.encode()).hexdigest(),
        },
        rows=[SIGN_OFF.row(signature)],
    )
    proposal.item = item
    making.proceed(item, lambda: actions.again(proposal), proposal.actor, now)
    return signature


def _require_signable(item: ReviewItem, actor: User, agency: str) -> None:
    scope = agencies_of(actor)
    if not actor.has_perm(locking.DECIDE) or (scope is not None and agency not in scope):
        raise Refused(gettext("You may sign only for your own agency."))
    if agency not in signing.agencies(item):
        raise Refused(gettext("This agency has no part in this reply."))
    if agency not in signing.missing(item):
        raise Refused(gettext("This agency has signed already."))
