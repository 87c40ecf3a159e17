"""Writes: what an editor does about a group of questions."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.canonical import JSONValue
from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.pipeline.work import Key
from ieim.studio.models import GapAction, GapGroup, Service
from ieim.studio.trying.selectors import expected_case
from ieim.studio.trying.services import GoldenError, add_example, store_written

Kind = GapAction.Kind
_OF_SERVICE: Collection[Kind] = (Kind.EXAMPLE, Kind.GOLDEN, Kind.CORRECTION)


@transaction.atomic
def handle(
    *,
    group: GapGroup,
    kind: Kind,
    by: User,
    text: str = "",
    service: Key | None = None,
    situation: str = "",
    reason: str = "",
) -> GapAction:
    """Do something about a group and record that; return the record.

    ``text`` becomes the example or golden question, of ``service`` or ``situation``. A new service
    and a correction are only begun: their forms save themselves.

    Raises:
        GoldenError: The question is gone or refused, or something is missing; nothing has changed.
    """
    gap = group.gaps.first()
    if gap is None:
        raise GoldenError(gettext("These questions were erased."))
    if kind in _OF_SERVICE:
        _check_service(service, by)
    if kind is Kind.SITUATION and not situation:
        raise GoldenError(gettext("Choose a situation."))
    if kind is Kind.NO_GAP and not reason.strip():
        raise GoldenError(gettext("Write why it is no gap."))
    agency, key = service or ("", "")
    if kind is Kind.EXAMPLE:
        owner = {"agency": agency, "service": key}
        add_example(text=text, owner=owner, by=by, turn_id=gap.turn_id)
    elif kind is Kind.SITUATION:
        add_example(text=text, owner={"situation": situation}, by=by, turn_id=gap.turn_id)
    elif kind is Kind.GOLDEN:
        expected = expected_case(agency, key)
        store_written(text=text, expected=expected, note="", by=by, turn_id=gap.turn_id)
    target = f"{agency}/{key}" if kind in _OF_SERVICE else ""
    action = GapAction.objects.create(
        group=group,
        kind=kind,
        target=situation if kind is Kind.SITUATION else target,
        reason=" ".join(reason.split())[:500] if kind is Kind.NO_GAP else "",
        by=by,
    )
    payload: dict[str, JSONValue] = {
        "group": group.pk,
        "action": kind.value,
        "target": action.target,
    }
    record_system(kind="gap.handled", payload=payload, actor=by.actor)
    return action


def _check_service(service: Key | None, by: User) -> None:
    if service is None or not works_for(by, service[0]):
        raise GoldenError(gettext("Choose a service."))
    if not Service.objects.filter(agency=service[0], key=service[1]).exists():
        raise GoldenError(gettext("The draft has no such service any more: choose another one."))
