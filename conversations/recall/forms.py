"""What the pages of a recall are asked, out of an address or a form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, QueryDict

from conversations.models import Citation
from conversations.recall import selectors
from conversations.recall.selectors import Found

_VERSION = re.compile(r"[0-9a-f]{64}|")


@dataclass(frozen=True, slots=True)
class Asked:
    """A service, and one of its versions (blank: any); ``turns`` are ticked answers, None: all."""

    service: Found
    version: str
    turns: tuple[UUID, ...] | None = None

    @property
    def query(self) -> str:
        """The address's query string for the service and its version."""
        values = {"agency": self.service.agency, "service": self.service.service}
        return urlencode({**values, "version": self.version} if self.version else values)

    @property
    def count(self) -> int:
        """How many answers are meant."""
        found = selectors.answers(self.service.agency, self.service.service, self.version)
        return (found if self.turns is None else found.filter(reply__turn__in=self.turns)).count()


def asked(data: QueryDict, user: AbstractBaseUser | AnonymousUser) -> Asked:
    """Read an address or a form.

    Raises ``Http404`` for what there is not, or not for this user: an agency of others and a
    service that never was answer alike.
    """
    agency, service = data.get("agency", ""), data.get("service", "")
    version = data.get("version", "")
    typed = (agency, service)
    if any("\0" in each or not each for each in typed) or not _VERSION.fullmatch(version):
        raise Http404
    if not selectors.may_see(user, agency):
        raise Http404
    found = selectors.name_of(agency, service)
    if not found.in_force and not Citation.objects.filter(agency=agency, service=service).exists():
        raise Http404
    turns = _turns(data.getlist("turn")) if data.get("who") == "ticked" else None
    return Asked(found, version, turns)


def _turns(typed: Sequence[str]) -> tuple[UUID, ...]:
    try:
        return tuple(map(UUID, typed))
    except ValueError as error:
        raise Http404 from error
