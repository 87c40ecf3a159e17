"""Writes: changing one section of the settings, in one transaction with its audit event."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from ieim.administration.audited import LOGO, SECTION
from ieim.administration.forms import SectionForm
from ieim.administration.models import Logo, Section
from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.pipeline.canonical import digest

CHANGED = "administration.changed"


class Conflict(Exception):
    """Somebody else has saved the section meanwhile; nothing was changed."""

    def __init__(self, stored: Section) -> None:
        super().__init__(f"{stored.name} is at version {stored.version}")
        self.stored = stored


@transaction.atomic
def change(*, form: SectionForm, version: int, by: User | None) -> Section:
    """Store a valid form of a section whose author has seen ``version`` of it.

    Where nothing changes, the version stays and nothing is recorded. ``by`` is None for the system.

    Raises:
        Conflict: somebody else has saved the section meanwhile.
    """
    content, picture, now = form.content, form.picture, timezone.now()
    # Two may write a section for the first time at once: one inserts, the other waits for it.
    empty = Section(name=form.section, sha256=digest({}), changed_at=now)
    Section.objects.bulk_create([empty], ignore_conflicts=True)
    stored = Section.objects.select_for_update(of=("self",)).get(pk=form.section)
    if stored.version != version:
        raise Conflict(stored)
    before: dict[str, str] = stored.content
    if content == before:
        return stored
    rows = []
    if picture is not None and not Logo.objects.filter(pk=picture.sha256).exists():
        picture.save(force_insert=True)
        rows.append(LOGO.row(picture))
    stored.content, stored.sha256 = content, digest(content)
    stored.version, stored.changed_at, stored.changed_by = version + 1, now, by
    stored.save()
    pairs = {name: [before.get(name, ""), content.get(name, "")] for name in form.fields}
    record_system(
        kind=CHANGED,
        payload={
            "section": form.section,
            "version": stored.version,
            "changed": {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
        },
        actor=by.actor if by else "system",
        rows=[SECTION.row(stored), *rows],
    )
    return stored
