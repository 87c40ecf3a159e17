"""Texts of a person for the citizen, with links of the release only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from conversations.models import Turn
from conversations.turns import languages
from ieim.pipeline.facts import facts, url_value
from ieim.pipeline.findings import Finding
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.message.screen import STRIPPED_CLASS
from ieim.pipeline.reply.plain_text import paragraphs
from ieim.pipeline.reply.reply import Reply, in_language, render_answer
from review import crisis
from review.deciding.locking import Refused
from review.models import Action

MAX_TEXT = 4000
MAX_SOURCES = 20
KINDS = {Action.WRITE: "answer", Action.ASK: "question", Action.DISMISS: "guidance"}
DOUBTED = frozenset({"money", "date", "percent"})
_UNSTORABLE = re.compile(f"[\ud800-\udfff{STRIPPED_CLASS}]")
_TOKEN = re.compile(r"\{[^{}\n]*\}")


def written(action: Action, turn: Turn, payload: Mapping[str, Any]) -> Reply:
    """Return what a person wrote as a reply; raises :class:`Refused`.

    ``payload`` has ``text`` and, to write an answer, ``sources`` (``[{"agency", "service"}]``).
    """
    release, text = languages.release_of(turn), checked(turn, payload.get("text"))
    cited = services_of(payload.get("sources", []), release) if action is Action.WRITE else []
    reply = render_answer(text, cited, release)
    if not any(character.isalnum() for part in reply.paragraphs for character in part):
        raise Refused(
            gettext("There is nothing to read in your text. Write what the citizen should know.")
        )
    reply = Reply.from_dict({**reply.as_dict(), "kind": KINDS[action]})
    return in_language(reply, languages.reply_language(turn), release)


def checked(turn: Turn, text: object) -> str:
    """Return words for the citizen of a turn as they can be sent; raises :class:`Refused`."""
    if not isinstance(text, str) or not text.strip():
        raise Refused(gettext("There is no text yet. Write what the citizen should know."))
    text = text.strip()
    if len(text) > MAX_TEXT:
        message = gettext("The text is {number} characters long; it may have {most}.")
        raise Refused(message.format(number=f"{len(text):,}", most=f"{MAX_TEXT:,}"))
    if _UNSTORABLE.search(text):
        raise Refused(gettext("The text has a character that cannot be shown. Type it again."))
    token = _TOKEN.search(text)
    if token:
        message = gettext("The text has a gap that is not filled in: {gap}")
        raise Refused(message.format(gap=token[0][:80]))
    urls = languages.release_of(turn).urls
    allowed = {url_value(url) for url in urls}.union(*map(_links, crisis.help_lines(turn)))
    unknown = sorted(_links(text) - allowed)
    if unknown:
        message = gettext("The text links to a page that is not in the service list: {links}")
        raise Refused(message.format(links=", ".join(unknown[:3])))
    return text


def warnings(turn: Turn, reply: Reply) -> list[Finding]:
    """Return findings on a written answer, for its author: what its sources do not say."""
    release = languages.release_of(turn)
    cited = [release.services[(s.agency_id, s.service_key)] for s in reply.sources]
    text, lines = "\n\n".join(reply.paragraphs), crisis.help_lines(turn)
    return grounding.check(text, cited, release, texts=lines)


def unpublished(turn: Turn, text: str) -> list[str]:
    """Return the amounts and dates in a text that neither a service of the release gives nor a help
    line, as they are written."""
    release = languages.release_of(turn)
    services = release.services.values()
    stated = grounding.unpublished(text, crisis.help_lines(turn), release, services)
    return list(dict.fromkeys(fact.text for fact, _ in stated if fact.kind in DOUBTED))


def _links(text: str) -> set[str]:
    """Return the links of a text, as it was written and as the citizen is shown it."""
    views = (text, "\n\n".join(paragraphs(text)))
    return {fact.value for view in views for fact in facts(view) if fact.kind == "url"}


def services_of(sources: object, release: Release) -> list[Service]:
    """Return the services that a payload names; raises :class:`Refused`."""
    if not isinstance(sources, list) or len(sources) > MAX_SOURCES:
        raise Refused(
            gettext("The sources must be a list of at most {most}.").format(most=MAX_SOURCES)
        )
    cited = []
    for source in sources:
        key = _key(source)
        if key not in release.services:
            raise Refused(gettext("A source is not in the service list. Choose it from the list."))
        cited.append(release.services[key])
    return cited


def _key(source: object) -> tuple[str, str]:
    if isinstance(source, Mapping):
        agency, service = source.get("agency"), source.get("service")
        if isinstance(agency, str) and isinstance(service, str):
            return agency, service
    raise Refused(gettext("A source needs an agency and a service. Choose it from the list."))
