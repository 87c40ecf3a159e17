"""Reads: which notices apply, what the pipeline is told of them, and what citizens are shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from ieim.knowledge.models import Directive
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import Source
from ieim.pipeline.reply.reply import Notice

User = AbstractBaseUser | AnonymousUser

DIRECTIVE_CHARS = 2_000
"""Of all notices together, the model is given so many code points."""


def active(now: datetime) -> list[Directive]:
    """Return the notices that apply at a moment, the one that began last first."""
    notices = Directive.objects.filter(starts_at__lte=now, ends_at__gt=now)
    return list(notices.order_by("-starts_at", "-pk"))


def runtime_directive(release: Release, now: datetime) -> str | None:
    """Return ``runtime_directive`` of a turn that is worked on at a moment; None without a notice.

    One line a notice, the one that began last first, each whole: from the first one on that would
    exceed :data:`DIRECTIVE_CHARS`, they are left out. So are those of agencies that ``release``
    does not have.
    """
    lines: list[str] = []
    remaining = DIRECTIVE_CHARS
    for notice in active(now):
        agency = release.agencies.get(notice.agency)
        if notice.agency and agency is None:
            continue
        line = f"{agency.name if agency else 'Every agency'}: {notice.text}"
        remaining -= len(line) + bool(lines)
        if remaining < 0:
            break
        lines.append(line)
    return "\n".join(lines) or None


def of_reply(sources: Sequence[Source], now: datetime) -> tuple[Notice, ...]:
    """Return the notices that go with a reply of these sources: of every agency, and of theirs.

    A reply without a source is about no agency, and has none. What the model alone is told is none.
    """
    if not sources:
        return ()
    names = {"": "", **{source.agency_id: source.agency_name for source in sources}}
    notices = (notice for notice in active(now) if not notice.model_only and notice.agency in names)
    return tuple(dict.fromkeys(Notice(names[notice.agency], notice.text) for notice in notices))


def visible(user: User) -> QuerySet[Directive]:
    """Return the notices that a user may see: those of every agency, and of their agencies."""
    agencies = agencies_of(user)
    notices = Directive.objects.select_related("created_by")
    return notices if agencies is None else notices.filter(agency__in=["", *agencies])
