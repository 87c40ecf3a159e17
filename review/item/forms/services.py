"""Picking services: found by words, shown with what they say."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext

from ieim.pipeline.findings import pointer
from ieim.pipeline.knowledge import Service
from review.item.forms.base import Desk, Invalid, Option, Problem, parts, service_facts
from review.item.sections.said import agency_name

MOST_FOUND = 8


def services(
    desk: Desk,
    *,
    name: str,
    words: str,
    chosen: Sequence[str],
    agencies: Sequence[str] | None,
    said: Sequence[tuple[str, str]] = (),
) -> list[Option]:
    """Return services to pick from: the chosen ones first, then what fits ``words``.

    Without words those that fit the message. ``name`` is the name of the inputs, ``agencies``
    limits the search (None: every agency), ``said`` are the (agency, key) of the model's answer.
    """
    found = [service for value in chosen if (service := picked(desk, value)) is not None]
    found += [
        desk.release.services[key]
        for key in said
        if key in desk.release.services and (agencies is None or key[0] in agencies)
    ]
    ranked = desk.index.services(words or desk.turn.text, agencies=agencies, limit=MOST_FOUND)
    found += [each.item for each in ranked if each.score > 0 or not words]
    given = {(s["agencyId"], s["serviceKey"]) for s in desk.given.get("service_index", [])}
    return [
        Option(
            value=(value := pointer(service.agency, service.key)),
            id=f"{name}-{place}",
            name=service.name,
            hint=agency_name(desk.release, service.agency),
            checked=value in chosen,
            by_model=(service.agency, service.key) in said,
            offered=(service.agency, service.key) in given if given else None,
            facts=service_facts(service),
        )
        for place, service in enumerate(dict.fromkeys(found))
    ]


def chosen_services(desk: Desk, values: Sequence[str], field: str) -> list[Service]:
    """Return the services that were chosen; raises :class:`Invalid` for one that is not there."""
    found = [picked(desk, value) for value in values]
    if None in found:
        raise Invalid(
            Problem(gettext("Choose the services from the list: one is not in it."), field)
        )
    return [service for service in found if service is not None]


def picked(desk: Desk, value: str) -> Service | None:
    """Return the service that an option's value stands for; None when there is none."""
    names = parts(value)
    return desk.release.services.get((names[0], names[1])) if len(names) == 2 else None
