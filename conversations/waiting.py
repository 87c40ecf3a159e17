"""What the page shows of a turn that waits for a person: why, whom to call, what may help."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.utils import timezone
from django.utils.translation import gettext_lazy

from conversations.chat.presenters import ReachView, WaitingView
from conversations.chat.reply_presenters import CardView, FactView, SourceView
from conversations.chat.wording import Words
from conversations.models import Attempt, Reply, Turn
from conversations.person import reach
from conversations.ports import Due
from conversations.states import TurnState
from conversations.turns import choosing, flags, languages
from conversations.turns.models import Choice, ChoiceOutcome
from ieim.administration import selectors as administration
from ieim.administration.hours import Status
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message import risk
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.message.risk import Contact
from ieim.pipeline.reply.cards import read_on, source
from ieim.pipeline.reply.plain_text import plain

MOST = 3
"""So many services are shown: more would look like an answer."""

Key = tuple[str, str]
"""A service's agency and key."""


def may_help(turn: Turn, words: Words, flagged: Sequence[Turn]) -> tuple[CardView, ...]:
    """Return the services that may be about a turn that waits for a person, best first.

    None where somebody in the conversation may be in danger (``flagged`` waits), where the message
    is meant for a person, and where the turn has no candidates stored. Never one that the citizen
    has refused, and none that is not in the service list any more.
    """
    waits = turn.state == TurnState.NEEDS_REVIEW.value and not hasattr(turn, "person_request")
    publication = follower.publication()
    if not waits or flagged or turn.risks or publication is None:
        return ()
    keys = list(dict.fromkeys(_candidates(turn)))
    if not keys:
        return ()
    refused = _refused_services(turn)
    release = languages.in_language(knowledge.loaded(publication), turn.language)
    remaining = [key for key in keys if key in release.services and key not in refused]
    return tuple(_help_card(key, release, words) for key in remaining[:MOST])


def _candidates(turn: Turn) -> Iterable[Key]:
    """Return what the search found for a turn, as it is stored, best first."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return _given_to_model(turn)
    if choice.outcome == ChoiceOutcome.NONE:
        return ()
    return choice.services or [(agency, key) for agency, key in choice.offered]


def _given_to_model(turn: Turn) -> Iterator[Key]:
    """Yield the services that a model was given to choose from.

    Of the last round's first attempt: the second one is given fewer.
    """
    attempts = Attempt.objects.filter(stage__turn=turn, stage__contract__in=_GIVEN_BY)
    for attempt in attempts.order_by("-stage__order", "-round", "number"):
        services = json.loads(attempt.asked_text or "{}").get("service_index", ())
        if services:
            for candidate in sorted(services, key=lambda candidate: int(candidate["rank"])):
                yield candidate["agencyId"], candidate["serviceKey"]
            return


_GIVEN_BY = ("service_select_v1", "multi_agency_service_answer_v1")
"""The contracts whose model is given services."""


def _refused_services(turn: Turn) -> set[Key]:
    """Return the services of refused choices and of replaced answers in this conversation."""
    choices = Choice.objects.filter(
        turn__session_id=turn.session_id, outcome=ChoiceOutcome.NONE.value
    )
    replaced = Reply.objects.filter(turn__session_id=turn.session_id, turn__replaced__isnull=False)
    keys = {(agency, key) for choice in choices for agency, key in choice.offered}
    sources = (source for reply in replaced for source in reply.body["sources"])
    return keys | {(source["agency_id"], source["service_key"]) for source in sources}


def _help_card(key: Key, release: Release, words: Words) -> CardView:
    service, agency = release.services[key], release.agencies[key[0]]
    translated = release.translated.get(key, frozenset())

    def language_of(field: str) -> str:
        code = release.language if field in translated else languages.written_in()
        return "" if code == detected_code(words.language) else code

    url = source(service, agency).url
    contact = FactView(
        words.heading("contact"),
        (plain(service.contact),),
        language=language_of("contact"),
        name="contact",
    )
    code = detected_code(words.language)
    is_translated = release.language == code and code in release.languages
    of_agency = "" if is_translated else languages.written_in()
    return CardView(
        title=service.name,
        lead="",
        facts=(contact,) if contact.items[0] else (),
        source=SourceView(
            agency.name,
            service.name,
            url,
            language_of("name"),
            of_agency,
            read_on=read_on(service, url),
        ),
        languages={"title": language_of("name")} if language_of("name") else {},
    )


UNSAFE = "unsafe"
"""The reason where no other one says more."""

_REASON_OF_CODE: Mapping[str, str] = {
    Code.POLICY_CONFIDENCE: "unsure",
    Code.SCORE_MINIMUM: "unsure",
    Code.AGENCY_COUNT: "unsure",
    Code.ROUTE_SUBJECT: "unsure",
    Code.POLICY_LANGUAGE: "language",
    Code.POLICY_UNSIGNED: "unsigned",
    Code.POLICY_SWITCHED_OFF: "risk",
    Code.MODEL_UNAVAILABLE: "failed",
    Code.MODEL_TIMEOUT: "failed",
    Code.PIPELINE_ERROR: "failed",
    Code.BUDGET_DAY: "failed",
}
_REASON_OF_CHOICE: Mapping[str, str] = {
    ChoiceOutcome.NONE: "none",
    ChoiceOutcome.EXPIRED: "expired",
}


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
        person_wanted = any(sign.code == risk.PERSON_WANTED for sign in flags.signs_of(turn))
        return "asked" if person_wanted else "risk"
    choice = choosing.choice_of(turn)
    reason = _REASON_OF_CHOICE.get(choice.outcome) if choice is not None else None
    return reason or next(
        (_REASON_OF_CODE[code] for code in codes if code in _REASON_OF_CODE), UNSAFE
    )


def _reach(words: Words) -> ReachView | None:
    office = administration.current()
    if not (office.telephone or office.hours):
        return None
    closed = words.translate(gettext_lazy("Nobody is here at the moment")) if _closed() else ""
    return ReachView(
        office.telephone, office.telephone_link, tuple(reach.opening_hours(words)), closed
    )


def _closed() -> Status | None:
    """Return until when the office is closed, by its own hours; None while it is open."""
    status = administration.current().status(timezone.now())
    return status if status and not status.open else None
