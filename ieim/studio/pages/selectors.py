"""What the pages read: where things stand, and services by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from ieim.knowledge import selectors
from ieim.knowledge.models import Publication
from ieim.pipeline import knowledge
from ieim.studio.models import Proposal, Service

_WORDS = 8


@dataclass(frozen=True, slots=True)
class Now:
    """What is current, how it became so, and what waits; None for what there is not."""

    publication: Publication | None
    release: knowledge.Release | None
    proposal: Proposal | None


def now() -> Now:
    publications = Publication.objects.select_related("release", "published_by")
    waiting = proposals().filter(state=Proposal.State.OPEN).first()
    newest = publications.defer("release__content").first()
    return Now(newest, selectors.current_release(), waiting)


def proposals() -> QuerySet[Proposal]:
    """Return the proposals, newest first, without their content until somebody asks for it."""
    people = ("proposed_by", "decided_by")
    return Proposal.objects.select_related(*people).defer("content")


def draft_services(text: str, agency: str) -> QuerySet[Service, Mapping[str, Any]]:
    """Return the draft's services that have every word of ``text``, in index order."""
    found = Service.objects.filter(agency=agency) if agency else Service.objects.all()
    for word in _words(text):
        found = found.filter(
            Q(name__icontains=word)
            | Q(key__icontains=word)
            | Q(overview__icontains=word)
            | Q(agency__name__icontains=word)
        )
    return found.values("agency", "key", "name", "overview")


def release_services(
    release: knowledge.Release, text: str, agency: str
) -> Sequence[knowledge.Service]:
    """Return the services of ``release`` that have every word of ``text``, in index order."""
    services = release.services_by_agency.get(agency, ()) if agency else release.services.values()
    words = [word.lower() for word in _words(text)]
    return [each for each in services if not words or _has(release, each, words)]


def _has(release: knowledge.Release, service: knowledge.Service, words: Sequence[str]) -> bool:
    agency = release.agencies[service.agency].name
    text = f"{service.name}\n{service.key}\n{service.overview}\n{agency}".lower()
    return all(word in text for word in words)


def _words(text: str) -> list[str]:
    return text.replace("\x00", " ").split()[:_WORDS]
