"""Reads of waiting: what a citizen is told whose question waits for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from babel.dates import format_date, format_time
from django.utils import timezone, translation

from conversations.chat.wording import Words
from conversations.languages import pages
from conversations.models import Turn
from conversations.person import hours
from conversations.ports import Due
from conversations.states import TurnState
from conversations.turns import choosing, flags
from conversations.turns.models import ChoiceOutcome
from conversations.waiting.helping import may_help
from conversations.waiting.presenters import ReachView, WaitingView
from ieim.administration import selectors as administration
from ieim.administration.hours import Status
from ieim.pipeline.findings import Code
from ieim.pipeline.message import asking
from ieim.pipeline.message.risk import Contact

UNSAFE = "unsafe"
"""The reason where no other one says more."""

_OF_CODES: Mapping[str, str] = {
    Code.POLICY_CONFIDENCE: "unsure",
    Code.SCORE_MINIMUM: "unsure",
    Code.AGENCY_COUNT: "unsure",
    Code.ROUTE_SUBJECT: "unsure",
    Code.POLICY_LANGUAGE: "language",
    Code.POLICY_UNSIGNED: "unsigned",
    Code.MODEL_UNAVAILABLE: "failed",
    Code.MODEL_TIMEOUT: "failed",
    Code.PIPELINE_ERROR: "failed",
    Code.BUDGET_DAY: "failed",
}
_OF_CHOICES: Mapping[str, str] = {ChoiceOutcome.NONE: "none", ChoiceOutcome.EXPIRED: "expired"}


def waiting_view(
    turn: Turn, words: Words, due: Due | None, flagged: Sequence[Turn]
) -> WaitingView | None:
    """Return what is shown of a turn that waits, None where the turn does not.

    ``flagged`` are the session's turns of danger that wait for a person.
    """
    if turn.state != TurnState.NEEDS_REVIEW.value or hasattr(turn, "person_request"):
        return None
    return WaitingView(
        reason=_reason(turn, due.reasons if due else ()),
        reach=_reach(words),
        may_help=may_help(turn, words, flagged),
    )


def alone(turn: Turn, contacts: Sequence[Contact]) -> Status | None:
    """Return until when the office is closed to somebody in danger who waits for a person.

    ``contacts`` are the help lines at the turn. None where nobody waits, or somebody may be there.
    """
    return _closed() if contacts and turn.state == TurnState.NEEDS_REVIEW.value else None


def _reason(turn: Turn, codes: Sequence[str]) -> str:
    if Code.POLICY_RISK in codes:
        wished = any(found.code == asking.FLAG for found in flags.of(turn))
        return "asked" if wished else "risk"
    choice = choosing.choice_of(turn)
    asked = _OF_CHOICES.get(choice.outcome) if choice is not None else None
    return asked or next((_OF_CODES[code] for code in codes if code in _OF_CODES), UNSAFE)


def _reach(words: Words) -> ReachView | None:
    own = administration.current()
    if not (own.telephone or own.hours):
        return None
    closed = words.held["nobody"] if _closed() else ""
    return ReachView(own.telephone, own.telephone_link, tuple(_hours(words)), closed)


def _closed() -> Status | None:
    """Return until when the office is closed, by its own hours; None while it is open."""
    status = administration.current().status(timezone.now())
    return status if status and not status.open else None


def _hours(words: Words) -> Iterator[str]:
    """Yield when people are there, and on which days of the next two weeks they are not."""
    opening = hours.opening(timezone.now())
    if opening is None:
        return
    locale = pages.locale(words.language)
    with translation.override(words.code):
        week = list(opening.hours)
    for days, opens, closes in week:
        times = (format_time(time, format="short", locale=locale) for time in (opens, closes))
        yield words.held["open"].format(days=days, times="–".join(times))
    for day, why in opening.closed:
        told = words.held["shut_for" if why else "shut"]
        yield told.format(day=_day(day, words), why=why)


def _day(day: date, words: Words) -> str:
    return format_date(day, format="full", locale=pages.locale(words.language))
