"""The second administrator's part: agreeing to rights that another has asked for, or not."""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import lock_head
from ieim.people.accounts import account_of, why_not
from ieim.people.audited import GRANT, rows_of, rows_of_accounts
from ieim.people.four_eyes import rights
from ieim.people.four_eyes.asking import record_grant, tell
from ieim.people.models import Grant, User
from ieim.people.services import NotAllowed, Rows, record_change


@transaction.atomic
def agree(*, grant_id: int, by: User) -> Grant:
    """Give what another administrator has asked for. Raises Grant.DoesNotExist, and
    :class:`~ieim.people.services.NotAllowed` with a sentence that says why."""
    lock_head(PEOPLE_CHAIN)
    grant = _open(grant_id, by)
    asker = grant.asked_by
    if by.pk in (grant.asked_by_id, grant.user_id):
        raise NotAllowed(_("Another administrator has to agree, who does not get the rights."))
    if asker is None or not rights.administrators().filter(pk=asker.pk).exists():
        raise NotAllowed(_("Who asked is no administrator any more. Refuse it, and ask anew."))
    before, rows = account_of(grant.user_id), Rows(lambda: rows_of_accounts([grant.user_id]))
    if before is None or before.profile[-1] != grant.address:
        raise NotAllowed(_("The account’s e-mail address has changed. Refuse it, and ask anew."))
    try:
        rights.give(grant.user_id, grant.rights)
    except (Group.DoesNotExist, Permission.DoesNotExist) as gone:
        raise NotAllowed(_("One of the rights is gone. Refuse it, and ask anew.")) from gone
    after = account_of(grant.user_id)
    if why := why_not(asker, before, after):
        raise NotAllowed(why)
    _decide(grant, Grant.State.AGREED, by)
    record_change(before, after, rows, by=by, agreed=grant)
    transaction.on_commit(lambda: tell(grant), robust=True)
    return grant


@transaction.atomic
def refuse(*, grant_id: int, by: User) -> Grant:
    """Refuse what was asked for, or withdraw it. Raises as :func:`agree` does."""
    lock_head(PEOPLE_CHAIN)
    grant = _open(grant_id, by)
    before = rows_of(GRANT, Q(pk=grant.pk))
    _decide(grant, Grant.State.REFUSED, by)
    record_grant("people.rights_refused", grant, by, before)
    return grant


def _open(grant_id: int, by: User) -> Grant:
    grant = Grant.objects.select_related("user", "asked_by").get(pk=grant_id)
    if grant.state != Grant.State.ASKED:
        raise NotAllowed(_("Somebody has decided it already."))
    if not rights.administrators().filter(pk=by.pk).exists():
        raise NotAllowed(_("Only an administrator decides it."))
    return grant


def _decide(grant: Grant, state: Grant.State, by: User) -> None:
    grant.state, grant.decided_by, grant.decided_at = state, by, timezone.now()
    grant.save()
