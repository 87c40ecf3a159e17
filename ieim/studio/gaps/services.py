"""Writes: what an editor does about a group of questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from ieim.audit.canonical import JSONValue
from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.people.reading import record_listed
from ieim.people.scope import works_for
from ieim.studio.gaps.selectors import LISTED
from ieim.studio.models import GapAction, GapGroup, Service
from ieim.studio.trying.selectors import expected_case
from ieim.studio.trying.services import GoldenError, add_example, store_written

Kind = GapAction.Kind


@transaction.atomic
def handle(
    *,
    group: GapGroup,
    kind: Kind,
    by: User,
    text: str = "",
    service: Service | None = None,
    situation: str = "",
    reason: str = "",
) -> GapAction:
    """Do something about a group and record that; return the record.

    ``text`` becomes the example or golden question, of ``service`` or ``situation``. A new service
    and a correction are only begun: their forms save themselves.

    Raises:
        GoldenError: The question is gone or refused, or something is missing; nothing has changed.
    """
    gap, target = group.gaps.first(), ""
    if gap is None:
        raise GoldenError(gettext("These questions were erased."))
    if kind in (Kind.EXAMPLE, Kind.GOLDEN, Kind.CORRECTION):
        if service is None or not works_for(by, service.agency_id):
            raise GoldenError(gettext("Choose a service."))
        target = f"{service.agency_id}/{service.key}"
        owner = {"agency": service.agency_id, "service": service.key}
        if kind is Kind.EXAMPLE:
            add_example(text=text, owner=owner, by=by, turn_id=gap.turn_id)
        elif kind is Kind.GOLDEN:
            expected = expected_case(*owner.values())
            store_written(text=text, expected=expected, note="", by=by, turn_id=gap.turn_id)
    elif kind is Kind.SITUATION:
        if not situation:
            raise GoldenError(gettext("Choose a situation."))
        target = situation
        add_example(text=text, owner={"situation": situation}, by=by, turn_id=gap.turn_id)
    elif kind is Kind.NO_GAP and not reason.strip():
        raise GoldenError(gettext("Write why it is no gap."))
    action = GapAction.objects.create(
        group=group,
        kind=kind,
        target=target,
        reason=" ".join(reason.split())[:500] if kind is Kind.NO_GAP else "",
        by=by,
    )
    payload: dict[str, JSONValue] = {"group": group.pk, "action": kind.value, "target": target}
    record_system(kind="gap.handled", payload=payload, actor=by.actor)
    return action


def record_shown(rows: Iterable[Mapping[str, Any]], by: User) -> None:
    """Record that somebody is shown the examples of groups (``rows`` of the selectors)."""
    turns = (gap.turn_id for row in rows for gap in row["examples"])
    record_listed(LISTED, "turns", turns, by)
