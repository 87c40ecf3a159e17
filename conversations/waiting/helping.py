"""What may help while a question waits: services that the search has found for it.

They are read from what the turn has stored, never looked for anew, and every word of them comes
from the release that citizens are answered from now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from conversations.chat.replies import CardView, FactView, SourceView
from conversations.chat.wording import Words
from conversations.models import Attempt, Reply, Turn
from conversations.states import TurnState
from conversations.turns import choosing, languages
from conversations.turns.models import Choice, ChoiceOutcome
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import source
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
    number = follower.number()
    if not waits or flagged or turn.risks or number is None:
        return ()
    found = list(dict.fromkeys(_candidates(turn)))
    if not found:
        return ()
    refused = _refused(turn)
    release = knowledge.release(number).in_language(turn.language)
    kept = [key for key in found if key in release.services and key not in refused]
    return tuple(_card(key, release, words) for key in kept[:MOST])


def _candidates(turn: Turn) -> Iterable[Key]:
    """Return what the search found for a turn, as it is stored, best first."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return _asked(turn)
    if choice.outcome == ChoiceOutcome.NONE:
        return ()
    found = choice.offered if choice.chosen is None else [choice.chosen]
    return [(agency, key) for agency, key in found]


def _asked(turn: Turn) -> Iterator[Key]:
    """Yield the services that a model was given to choose from, those that match the message.

    Of the last round's first attempt: the second one is given fewer.
    """
    attempts = Attempt.objects.filter(stage__turn=turn, stage__contract__in=_GIVEN)
    for attempt in attempts.order_by("-stage__order", "-round", "number"):
        given = json.loads(attempt.asked_text or "{}").get("service_index", ())
        matching = [each for each in given if each.get("score", 0) > 0]
        if matching:
            for each in sorted(matching, key=lambda each: int(each["rank"])):
                yield each["agencyId"], each["serviceKey"]
            return


_GIVEN = ("service_select_v1", "multi_agency_service_answer_v1")
"""The contracts whose model is given services."""


def _refused(turn: Turn) -> set[Key]:
    """Return what the citizen has said in this conversation that they do not need."""
    refused = Choice.objects.filter(
        turn__session_id=turn.session_id, outcome=ChoiceOutcome.NONE.value
    )
    other = Reply.objects.filter(turn__session_id=turn.session_id, turn__replaced__isnull=False)
    found = {(agency, key) for each in refused for agency, key in each.offered}
    sources = (source for reply in other for source in reply.body["sources"])
    sources = (source for reply in other for source in reply.body["sources"])
    return found | {(each["agency_id"], each["service_key"]) for each in sources}


def _card(key: Key, release: Release, words: Words) -> CardView:
    service, agency = release.services[key], release.agencies[key[0]]
    translated = release.translated.get(key, frozenset())

    def spoken(field: str) -> str:
        code = release.language if field in translated else languages.written_in()
        return "" if code == words.language else code

    contact = FactView(
        words.heading("contact"),
        (plain(service.contact),),
        language=spoken("contact"),
        name="contact",
    )
    of_agency = "" if release.language == words.language else languages.written_in()
    return CardView(
        title=service.name,
        lead="",
        facts=(contact,) if contact.items[0] else (),
        source=SourceView(
            agency.name, service.name, source(service, agency).url, spoken("name"), of_agency
        ),
        languages={"title": spoken("name")} if spoken("name") else {},
    )
