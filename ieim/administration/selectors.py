"""Reads: what the administration has set, as it is now in every process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from django.core.exceptions import SynchronousOnlyOperation
from django.db import DatabaseError

from ieim.administration.models import Logo, Section
from ieim.administration.own import Administration

logger = logging.getLogger(__name__)

_Stamps = tuple[tuple[str, str], ...]
_lock = threading.Lock()
_held: tuple[_Stamps, Administration] = ((), Administration({}))
"""What this process read last: digests, and what they stand for."""


def current() -> Administration:
    """Return what is set now.

    One small query asks for the digests of the sections; what they stand for is read when they have
    changed, in whatever process. They are digests and not numbers so that a change that was rolled
    back is never taken for another. While the database does not answer, and where nobody may ask
    it (an event loop), it is what was read last: the page that says so has a name and an emergency
    number too.
    """
    global _held
    held = _held
    try:
        stamps = tuple(Section.objects.values_list("name", "sha256"))
        if stamps == held[0]:
            return held[1]
        rows = list(Section.objects.values_list("name", "sha256", "content"))
    except SynchronousOnlyOperation:
        return held[1]
    except DatabaseError:
        logger.warning("The settings of the administration cannot be read", exc_info=True)
        return held[1]
    read = Administration({name: content for name, _, content in rows})
    with _lock:
        _held = (tuple((name, sha256) for name, sha256, _ in rows), read)
    return read


def offered_languages() -> Sequence[str]:
    """Return the codes of the languages that the citizen's pages are offered in."""
    return current().languages


def sections() -> dict[str, Section]:
    """Return the stored sections by name, with who changed them last."""
    return {each.name: each for each in Section.objects.select_related("changed_by")}


def logo(sha256: str) -> Logo | None:
    """Return a logo by its digest."""
    return Logo.objects.filter(pk=sha256).first()
