"""What the pages of a recall are asked, out of an address or a form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet
from django.http import Http404, QueryDict

from conversations.models import Citation
from ieim.studio.recall import selectors
from ieim.studio.recall.selectors import Found

EVERY, OTHER = "every", "not-"
_VERSION = re.compile(rf"(?:{OTHER})?[0-9a-f]{{64}}|{EVERY}|")


@dataclass(frozen=True, slots=True)
class Asked:
    """A service, and one of its versions (blank: any) or all but the version ``other``.

    ``turns`` are ticked answers, None: all.
    """

    service: Found
    version: str
    other: str
    turns: tuple[UUID, ...] | None = None

    @property
    def query(self) -> str:
        """The address's query string for the service and its versions."""
        values = {"agency": self.service.agency, "service": self.service.service}
        return urlencode({**values, "version": self.versions})

    @property
    def versions(self) -> str:
        """The versions in one word, as an address or a form has them."""
        return f"{OTHER}{self.other}" if self.other else self.version or EVERY

    @property
    def answers(self) -> QuerySet[Citation]:
        """The answers that are meant."""
        service = self.service
        found = selectors.answers(service.agency, service.service, self.version, self.other)
        return found if self.turns is None else found.filter(reply__turn__in=self.turns)

    @property
    def listed(self) -> QuerySet[Citation]:
        """The answers of these versions, ticked or not, for a list."""
        service = self.service
        return selectors.listed(service.agency, service.service, self.version, self.other)

    @property
    def count(self) -> int:
        """How many answers are meant."""
        return self.answers.count()


def asked(data: QueryDict, user: AbstractBaseUser | AnonymousUser) -> Asked:
    """Read an address or a form.

    Where it names no version, the answers from older ones are meant, where there are any: those
    from the version in force are seldom wrong in what that changed.

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
    if not version and (replacing := selectors.replaced_by(agency, service)):
        version = f"{OTHER}{replacing}"
    one = "" if version == EVERY or version.startswith(OTHER) else version
    other = version.removeprefix(OTHER) if version.startswith(OTHER) else ""
    return Asked(found, one, other, turns)


def _turns(typed: Sequence[str]) -> tuple[UUID, ...]:
    try:
        return tuple(map(UUID, typed))
    except ValueError as error:
        raise Http404 from error
