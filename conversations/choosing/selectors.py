"""Reads of asking back: what the citizen is shown."""

from __future__ import annotations

from conversations.chat import wording
from conversations.choosing.models import Choice
from conversations.choosing.presenters import ChoiceView, OptionView
from conversations.models import Turn
from conversations.states import TurnState
from conversations.turns import languages
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.plain_text import first_sentence


def choice_of(turn: Turn) -> Choice | None:
    """Return what the citizen of a turn was asked, None where they never were."""
    return turn.choice if hasattr(turn, "choice") else None


def choice_view(turn: Turn) -> ChoiceView | None:
    """Return what the citizen has to choose from at the moment, None for nothing."""
    choice = choice_of(turn)
    if choice is None or turn.state != TurnState.ASKING.value:
        return None
    release = languages.release_of(turn)
    words = wording.words(turn.language)
    told = _language(choice, release)
    notice = "" if told == words.language else words.only_in(told, whole=True)
    foreign = Code.POLICY_LANGUAGE.value in choice.codes
    return ChoiceView(
        options=options(choice, release),
        until=choice.until,
        language=told,
        reason="language" if foreign else "unsure",
        notice=words.read_as(turn.language, named_in=told) if foreign else notice,
    )


def options(choice: Choice, release: Release) -> tuple[OptionView, ...]:
    """Return the services that were offered, as ``release`` words them."""
    found = []
    for number, (agency, key) in enumerate(choice.offered, start=1):
        service = release.services[agency, key]
        line = first_sentence(service.overview or service.applicability_summary)
        name = release.agencies[agency].name
        found.append(OptionView(number, agency, key, service.name, name, line))
    return tuple(found)


def _language(choice: Choice, release: Release) -> str:
    """Return the language of the options: the citizen's only where every name is in it."""
    names = (release.translated.get((agency, key), ()) for agency, key in choice.offered)
    translated = release.language and all("name" in fields for fields in names)
    return release.language if translated else languages.written_in()
