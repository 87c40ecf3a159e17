"""Reads of the editors' pages: who else works on a set, and services by words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from ieim.pipeline import knowledge
from ieim.studio.drafts import sets
from ieim.studio.drafts.merging import WHOLE
from ieim.studio.models import Change, Proposal, Service, Translation
from ieim.studio.proposals import selectors as proposals_of

MOST_WORDS = 8
"""Words of a search; more are ignored."""


def others_at(proposal: Proposal) -> Sequence[Mapping[str, Any]]:
    """Return who else has changed fields of a set that is edited, since it was begun: ``name``
    and ``entry``."""
    parts = sets.parts_of(proposal)
    changes = Change.objects.filter(at__gte=proposal.proposed_at, by__isnull=False)
    rows = changes.exclude(by=proposal.proposed_by).select_related("by").order_by("-id")
    seen = {
        (change.by.display_name, change.entry): None
        for change in rows.filter(entry__in={entry for _, entry in parts})[:200]
        if (part := parts.get((change.table, change.entry))) and change.by is not None
        if WHOLE in part.columns or not part.columns.isdisjoint(change.fields)
    }
    return [{"name": name, "entry": entry} for name, entry in seen]


def decided() -> QuerySet[Proposal]:
    """Return the proposals that wait for nothing more, newest first."""
    undecided = (Proposal.State.OPEN, Proposal.State.SCHEDULED)
    return proposals_of.proposals().exclude(state__in=undecided)


def earlier_try(proposal: Proposal) -> Proposal | None:
    """Return the newest proposal that was turned down or withdrawn, and that its author goes on
    with in this set, which then began with the same note."""
    given_up = (Proposal.State.REFUSED, Proposal.State.WITHDRAWN)
    rows = proposals_of.proposals().filter(state__in=given_up, proposed_by=proposal.proposed_by_id)
    rows = rows.filter(pk__lt=proposal.pk, decided_at__lte=proposal.proposed_at)
    return rows.filter(note=proposal.note).exclude(note="").first()


def coming_times(proposal: Proposal | None) -> dict[str, datetime]:
    """Return the times of a proposal, by field, that are not over yet."""
    times = {name: getattr(proposal, name, None) for name in ("publish_at", "expires_at")}
    return {name: time for name, time in times.items() if time and time > timezone.now()}


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
