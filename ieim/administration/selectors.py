"""Reads: the organisation settings as they are now in every process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError

from ieim.administration.models import Section
from ieim.administration.organisation import Administration

logger = logging.getLogger(__name__)

_Stamps = tuple[tuple[str, str], ...]
_lock = threading.Lock()
_cached: tuple[_Stamps, Administration] = ((), Administration({}))
"""What this process read last: the digests of the sections, and their content."""


def current() -> Administration:
    """Return the settings as they are now.

    One small query asks for the digests of the sections; their content is read when they have
    changed, in whatever process. They are digests and not versions so that a change that was
    rolled back is never taken for another. While the database does not answer, and where nobody
    may ask it (an event loop), it is what was read last: the error page needs a name and an
    emergency number too.
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
    return {each.name: each for each in Section.objects.select_related("changed_by")}
