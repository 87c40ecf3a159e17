"""Reads of the editors' pages: the current state, and services by words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from ieim.knowledge import selectors
from ieim.knowledge.models import Publication
from ieim.pipeline import knowledge
from ieim.studio.drafts import sets
from ieim.studio.models import Change, Proposal, Service, Translation

MOST_WORDS = 8
"""Words of a search; more are ignored."""


@dataclass(frozen=True, slots=True)
class Status:
    """The current release and its publication; None where there is none."""

    publication: Publication | None
    release: knowledge.Release | None


def status() -> Status:
    publications = Publication.objects.select_related("release", "published_by")
    newest = publications.defer("release__content").first()
    return Status(newest, selectors.current_release())


def others_at(proposal: Proposal) -> Sequence[Mapping[str, Any]]:
    """Return who else has changed entries of a set that is edited, since it was begun: ``name``
    and ``entry``."""
    names = sets.names_of(proposal)
    changes = Change.objects.filter(at__gte=proposal.proposed_at, by__isnull=False)
    rows = changes.exclude(by=proposal.proposed_by).select_related("by").order_by("-id")
    seen = {
        (change.by.display_name, change.entry): None
        for change in rows.filter(entry__in={entry for _, entry in names})[:200]
        if (change.table, change.entry) in names and change.by is not None
    }
    return [{"name": name, "entry": entry} for name, entry in seen]


def draft_services(text: str, agency: str) -> QuerySet[Service, Mapping[str, Any]]:
    """Return the draft's services that contain every word of ``text``, in index order; names of
    translations count."""
    services = Service.objects.filter(agency=agency) if agency else Service.objects.all()
    same = Translation.objects.filter(agency=OuterRef("agency"), service=OuterRef("key"))
    for word in _words(text):
        services = services.filter(
            Q(Exists(same.filter(name__icontains=word)))
            | Q(name__icontains=word)
            | Q(key__icontains=word)
            | Q(overview__icontains=word)
            | Q(agency__name__icontains=word)
        )
    return services.values("agency", "key", "name", "overview")


def service_names(keys: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the names of the draft's services with one of these keys, by agency and key."""
    services = Service.objects.filter(key__in=set(keys))
    rows = services.values_list("agency", "key", "name")
    return {(agency, key): name for agency, key, name in rows}


def release_services(
    release: knowledge.Release, text: str, agency: str
) -> Sequence[knowledge.Service]:
    """Return the services of ``release`` that contain every word of ``text``, in index order."""
    services = release.services_by_agency.get(agency, ()) if agency else release.services.values()
    words = [word.lower() for word in _words(text)]

    def matches(service: knowledge.Service) -> bool:
        agency = release.agencies[service.agency].name
        texts = f"{service.name}\n{service.key}\n{service.overview}\n{agency}".lower()
        return all(word in texts for word in words)

    return list(filter(matches, services))


def _words(text: str) -> list[str]:
    return text.replace("\x00", " ").split()[:MOST_WORDS]
