"""Writes: what an editor does about a group of questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from conversations.turns import languages
from ieim.audit.canonical import JSONValue
from ieim.audit.services import record_system
from ieim.knowledge import selectors as knowledge
from ieim.llm.engine.thresholds import SURE_ENOUGH
from ieim.people.models import User
from ieim.people.reading import record_listed
from ieim.people.scope import works_for
from ieim.studio.drafts import cached, editing
from ieim.studio.gaps.collecting import rank
from ieim.studio.gaps.selectors import LISTED, MAY_CORRECT, flag_of
from ieim.studio.models import Change, GapAction, GapGroup, Service
from ieim.studio.trying.selectors import expected_case
from ieim.studio.trying.services import GoldenError, add_example, store_written

Kind = GapAction.Kind
_CLOSING = (Kind.NO_GAP, Kind.NOT_OURS)
_LOOKED_AT = 50
"""Questions of a group that are asked of the draft at most."""


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
    with transaction.atomic():
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
        elif kind is Kind.NEAR_MISS:
            target = _add_near_miss(group, text, by)
        elif kind is Kind.NO_GAP and not reason.strip():
            raise GoldenError(gettext("Write why it is no gap."))
        action = GapAction.objects.create(
            group=group,
            kind=kind,
            target=target,
            reason=" ".join(reason.split())[:500] if kind in _CLOSING else "",
            release_number=knowledge.current_number(),
            by=by,
        )
        payload: dict[str, JSONValue] = {"group": group.pk, "action": kind.value, "target": target}
        record_system(kind="gap.handled", payload=payload, actor=by.actor)
    if kind is Kind.EXAMPLE:
        _look_with_draft(action)
    return action


def record_shown(rows: Iterable[Mapping[str, Any]], by: User) -> None:
    """Record that somebody is shown the examples of groups (``rows`` of the selectors)."""
    turns = (gap.turn_id for row in rows for gap in row["examples"])
    record_listed(LISTED, "turns", turns, by)


def _add_near_miss(group: GapGroup, text: str, by: User) -> str:
    """Add a text to the draft as a near miss of the group's sign of danger; return the sign."""
    sign = flag_of(group)
    if not sign or not by.has_perm(MAY_CORRECT):
        raise GoldenError(gettext("There is no sign of danger here that you may correct."))
    language = languages.detect(text, knowledge.current_release()) or languages.written_in()
    values = {"language": language, "text": " ".join(text.split()), "kind": "near_miss"}
    try:
        editing.save(
            table="risk_examples",
            values={**values, "flag": sign},
            by=by,
            expected_version=None,
            source=Change.Source.ADMIN,
        )
    except (editing.Invalid, editing.OutOfScope) as error:
        message = gettext("This cannot be kept. {reason}.")
        raise GoldenError(message.format(reason=str(error).rstrip("."))) from error
    return sign


def _look_with_draft(action: GapAction) -> None:
    """Store the first question of the group that the draft would still not answer, after
    ``action``."""
    release = cached.draft().release
    for gap in action.group.gaps.all()[:_LOOKED_AT]:
        if rank(gap.text, action.group.language, release).first < SURE_ENOUGH:
            action.failing = gap
            action.save(update_fields=["failing"])
            return
