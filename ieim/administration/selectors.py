"""Reads: the organisation settings as they are now in every process, and what is missing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError
from django.utils.translation import gettext

from ieim.administration.forms import LEGAL
from ieim.administration.models import Section
from ieim.administration.organisation import Administration

logger = logging.getLogger(__name__)

_Stamps = tuple[tuple[str, str], ...]
_lock = threading.Lock()
_cached: tuple[_Stamps, Administration] = ((), Administration({}))
"""The digests of the sections when this process last read them, and their content."""


def current() -> Administration:
    """Return the settings as they are now.

    One small query reads the digests of the sections, and their content only if they have changed
    in any process. A digest is compared and not the version: a change that was rolled back has the
    same version as the next one. Without the database, and in an event loop, the settings are
    those that were read last: the error page needs a name and an emergency number, too.
    """
    global _cached
    stamps, settings = _cached
    try:
        if stamps == tuple(Section.objects.values_list("name", "sha256")):
            return settings
        rows = list(Section.objects.values_list("name", "sha256", "content"))
    except SynchronousOnlyOperation:
        return settings
    except DatabaseError:
        logger.warning("The settings of the administration cannot be read", exc_info=True)
        return settings
    settings = Administration({name: content for name, _, content in rows})
    with _lock:
        _cached = (tuple((name, sha256) for name, sha256, _ in rows), settings)
    return settings


def offered_languages() -> Sequence[str]:
    """Return the codes of the languages of the citizen's pages."""
    return current().languages


def sections() -> dict[str, Section]:
    """Return the stored sections by name, with who changed them last."""
    return {row.name: row for row in Section.objects.select_related("changed_by")}


class Missing(NamedTuple):
    """A setting that is needed before citizens come, and its field."""

    description: str
    section: str
    field: str


def missing(organisation: Administration) -> list[Missing]:
    """Return the settings that are missing before going live, in the order of the page."""
    legal = LEGAL + organisation.languages[0]
    texts = organisation.legal(organisation.languages[0])
    contact = gettext("A way to reach people: telephone, e-mail or address")
    needed = [
        (organisation.is_named, "name", "name", gettext("The name of the administration")),
        (organisation.has_contact, "contacts", "telephone", contact),
        (bool(organisation.hours), "hours", "monday", gettext("Opening hours")),
    ]
    legal_texts = {
        "controller": gettext("Who is responsible for personal data"),
        "purposes": gettext("What personal data are used for"),
        "rights": gettext("Which rights citizens have"),
        "authority": gettext("Where citizens may complain"),
        "imprint": gettext("The imprint"),
        "barriers": gettext("Whom to tell of a barrier"),
        "enforcement": gettext("Who enforces accessibility"),
    }
    needed += [(name in texts, legal, name, text) for name, text in legal_texts.items()]
    return [
        Missing(description, section, field)
        for is_set, section, field, description in needed
        if not is_set
    ]
