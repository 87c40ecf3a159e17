"""Words of the metrics page: what came of a question, and times, shares and parts in words."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from conversations.models import ReplyOrigin
from conversations.states import TurnState
from conversations.turns.models import ChoiceOutcome

OUTCOMES: Mapping[str, str] = {
    ReplyOrigin.MODEL.value: gettext_noop("Answered without a person"),
    ReplyOrigin.CITIZEN_CHOICE.value: gettext_noop("Answered after the citizen chose"),
    ReplyOrigin.MODEL_APPROVED.value: gettext_noop("Approved by a person"),
    ReplyOrigin.STAFF_OVERRIDE.value: gettext_noop("Corrected by a person"),
    ReplyOrigin.STAFF.value: gettext_noop("Written by a person"),
    "open": gettext_noop("Not answered yet"),
    TurnState.CLOSED.value: gettext_noop("Closed without an answer"),
}
"""What comes of a question, in the order of the chart; every other state is ``open``."""
CHOICES: Mapping[str, str] = {
    ChoiceOutcome.CHOSEN.value: gettext_noop("Chose one"),
    ChoiceOutcome.NONE.value: gettext_noop("Asked for a person"),
    ChoiceOutcome.EXPIRED.value: gettext_noop("Chose nothing in time"),
    "open": gettext_noop("Not yet"),
}
"""What comes of asking a citizen back, in the order of the chart."""
TOTAL = gettext_noop("In all")


def named(words_of: Mapping[str, str]) -> Mapping[str, str]:
    """Return names by their codes, in the language of the page."""
    return {key: _(said) for key, said in words_of.items()}


def duration(seconds: float | None) -> str:
    """Return a time in the unit that fits it: seconds, minutes, hours or days."""
    if seconds is None:
        return "–"
    if seconds >= 86_400:
        days = _short(seconds / 86_400)
        return _("1 day") if days == "1" else _("{number} days").format(number=days)
    if seconds >= 3_600:
        return _("{number} h").format(number=_short(seconds / 3_600))
    if seconds >= 60:
        return _("{number} min").format(number=_short(seconds / 60))
    return _("{number} s").format(number=f"{seconds:.0f}")


def share(part: int, whole: int) -> str:
    """Return a part of a whole in per cent; a dash of nothing."""
    return f"{part / whole:.0%}" if whole else "–"


def part_of(part: int, whole: int) -> str:
    """Return a part beside the whole."""
    return _("{part} of {whole}").format(part=f"{part:,}", whole=f"{whole:,}")


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
