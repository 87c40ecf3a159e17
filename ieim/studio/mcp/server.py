"""The tools, on the official SDK. They only read, and write down nothing that they are asked.

The SDK takes a second to import: whoever serves it imports this module when it is needed first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import cache, wraps
from typing import Annotated, Any, Final, TypeAlias

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from ieim.administration import selectors as administration
from ieim.knowledge import selectors
from ieim.knowledge.notices.selectors import active
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.knowledge import Release, Service, Situation
from ieim.pipeline.message.screen import MAX_CHARS
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Query
from ieim.pipeline.stages.base import OUTSIDE
from ieim.studio.standards.addresses import Addresses

MOST: Final = 5
"""Services that a search returns."""

INSTRUCTIONS: Final = (
    "The services of a public administration, as it has published them. Quote its texts as they "
    "are, and give `page` with them (`source`, where that is empty): do not fill gaps with what "
    "you know from elsewhere. Search with what the person wants, without names, numbers or "
    "addresses of anybody. An empty result means that none of the services is about it. Somebody "
    "in danger needs the emergency number, and no search."
)

Answer: TypeAlias = dict[str, Any]
Language: TypeAlias = Annotated[
    str, Field(description="ISO 639 code; empty for the language that the texts were written in")
]
Wish: TypeAlias = Annotated[
    str, Field(description=f"what the person wants, up to {MAX_CHARS:,} characters")
]


def list_agencies(language: Language = "") -> Answer:
    """The agencies whose services are described here."""
    release = _release(language)
    agencies = [
        {
            "agency": agency.id,
            "name": agency.name,
            "description": agency.description,
            "services": len(release.services_by_agency[agency.id]),
            **_where(_addresses().agency(agency.id), agency.path),
        }
        for agency in release.agencies.values()
    ]
    return _answer(release, agencies=agencies)


def search_services(text: Wish, language: Language = "") -> Answer:
    """The services that a question is most likely about, best first; none where none is near."""
    if not text.strip():
        raise ToolError("The text is empty. Say what the person wants.")
    if len(text) > MAX_CHARS:
        raise ToolError(f"The text has {len(text):,} characters. Send up to {MAX_CHARS:,}.")
    release = _release(language)
    # An embedder may be another machine's: like a model, it sees no personal data.
    ranking = shortlist_for(release).rank(Query(prepare(text).text))
    agencies = release.agencies.keys() - administration.current().agencies_off
    ranked = ranking.services(agencies=agencies, limit=MOST) if ranking.outside < OUTSIDE else []
    return _answer(release, services=[_summary(release, match.item) for match in ranked])


def get_service(agency: str, key: str, language: Language = "") -> Answer:
    """All that is published of one service, and the administration's notices about it."""
    release = _release(language)
    service = release.services.get((agency, key))
    if service is None:
        raise ToolError("There is no such service. search_services returns agency and key.")
    if agency in administration.current().agencies_off:
        raise ToolError("Answers about this agency are switched off. Name its page instead.")
    notices = [
        notice.text
        for notice in active(timezone.now())
        if notice.agency in ("", agency) and not notice.model_only
    ]
    texts = {**asdict(service), **_summary(release, service)}
    return _answer(release, service={**texts, "notices": notices})


def list_situations() -> Answer:
    """Life and business events after which several services are needed."""
    release = _release()
    return _answer(release, situations=[_situation(s) for s in release.situations.values()])


def get_situation(key: str) -> Answer:
    """The services that an event asks for, in their order; `condition` says for whom each is."""
    release = _release()
    situation = release.situations.get(key)
    if situation is None:
        raise ToolError("There is no such situation. list_situations returns the keys.")
    steps = [
        {**_summary(release, service), "condition": step.condition}
        for step in situation.steps
        if (service := release.services.get((step.agency, step.service)))
    ]
    return _answer(release, situation={**_situation(situation), "steps": steps})


@cache
def server() -> MCPServer[Any]:
    """Return the server with its tools, made once a process."""
    # Each request stands alone, in whichever process: nobody can be told of changes.
    made: MCPServer[Any] = MCPServer("ieim", instructions=INSTRUCTIONS, subscriptions=False)
    annotations = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (list_agencies, search_services, get_service, list_situations, get_situation):
        made.add_tool(_in_thread(tool), annotations=annotations)
    return made


def _in_thread(tool: Callable[..., Answer]) -> Callable[..., Awaitable[Answer]]:
    """Return a tool that runs where the database may be used, and gives its connection back."""

    @wraps(tool)
    async def run(**arguments: Any) -> Answer:
        return await database_sync_to_async(tool)(**arguments)

    return run


def _release(language: str = "") -> Release:
    """Return the current release in a language. Raises ToolError where there is none."""
    release = selectors.current_release()
    if release is None:
        raise ToolError("Nothing has been published yet. Try again later.")
    code, original = language.strip().lower(), _original_language()
    if code in ("", original):
        return release.in_language(original)
    if code not in release.languages:
        offered = ", ".join([original, *sorted(release.languages)])
        raise ToolError(f"There are no texts in this language. Choose one of: {offered}.")
    return release.in_language(code)


def _original_language() -> str:
    return str(settings.IEIM_MODEL["LANGUAGES"][0])


def _addresses() -> Addresses:
    return Addresses(settings.IEIM_PUBLIC_URL)


def _answer(release: Release, **content: Any) -> Answer:
    language = release.language or _original_language()
    return {"release": release.number, "language": language, **content}


def _summary(release: Release, service: Service) -> Answer:
    names = ("agency", "key", "name", "overview", "deadline_days")
    return {
        **{name: getattr(service, name) for name in names},
        "agency_name": release.agencies[service.agency].name,
        **_where(_addresses().service(service.agency, service.key), service.path, service.url),
    }


def _situation(situation: Situation) -> Answer:
    names = ("key", "kind", "name", "description")
    texts = {name: getattr(situation, name) for name in names}
    return texts | _where(_addresses().situation(situation.key))


def _where(source: str, *paths: str) -> Answer:
    """Return the page, the first of the paths that is an address and not words, and the source."""
    pages = (path for path in paths if path.lower().startswith(("http://", "https://")))
    return {"page": next(pages, ""), "source": source}
