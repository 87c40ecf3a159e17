"""Writes: changing one section of the settings, in one transaction with its audit event."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from ieim.administration import logos
from ieim.administration.models import Logo, Section
from ieim.administration.sections import SectionOf, section
from ieim.administration.sections.checks import Wrong
from ieim.administration.vouched import LOGO, SECTION
from ieim.audit.services import record_system
from ieim.people.models import User
from ieim.pipeline.canonical import digest

CHANGED = "administration.changed"


class Refused(Exception):
    """Texts that cannot be stored; nothing was changed. ``problems`` is ``{field: sentence}``."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


class Conflict(Exception):
    """Somebody else has saved the section meanwhile; nothing was changed."""

    def __init__(self, stored: Section) -> None:
        super().__init__(f"{stored.name} is at version {stored.version}")
        self.stored = stored


def checked(asked: SectionOf, typed: Mapping[str, str]) -> dict[str, str]:
    """Return what is stored of what was typed, blank fields left out. Raises :class:`Refused`."""
    content, problems = {}, {}
    for field in asked.fields:
        try:
            content[field.name] = field.check(typed.get(field.name, ""))
        except Wrong as wrong:
            problems[field.name] = str(wrong.args[0])
    if problems:
        raise Refused(problems)
    return {name: text for name, text in content.items() if text}


def picture(data: bytes) -> Logo:
    """Return a logo that is not stored yet. Raises :class:`Refused`."""
    try:
        media_type, content = logos.checked(data)
    except logos.NoLogo as wrong:
        raise Refused({"logo": str(wrong.args[0])}) from wrong
    return Logo(
        sha256=hashlib.sha256(content).hexdigest(),
        media_type=media_type,
        content=content,
        added_at=timezone.now(),
    )


def change(
    *, name: str, typed: Mapping[str, str], version: int, by: User | None, logo: bytes | None = None
) -> Section:
    """Store what was ``typed`` into a section that the author saw at ``version``.

    ``logo`` is a new picture for a section that has one; without it ``typed["logo"]`` says which
    one stays, empty for none. What changes nothing leaves the version and the record as they are.
    Raises KeyError for no section, :class:`Refused`, and :class:`Conflict` where somebody else was
    quicker.
    """
    asked = section(name)
    problems: dict[str, str] = {}
    new = None
    try:
        new = picture(logo) if logo is not None else None
    except Refused as refused:
        problems |= refused.problems
    try:
        content = checked(asked, typed)
    except Refused as refused:
        raise Refused(refused.problems | problems) from refused
    if problems:
        raise Refused(problems)
    if new is not None:
        content["logo"] = new.sha256
    return _store(asked, content, version, by, new)


@transaction.atomic
def _store(
    asked: SectionOf, content: dict[str, str], version: int, by: User | None, logo: Logo | None
) -> Section:
    now = timezone.now()
    # Two may write a section for the first time at once: one inserts, the other waits for it.
    empty = Section(name=asked.name, sha256=digest({}), changed_at=now)
    Section.objects.bulk_create([empty], ignore_conflicts=True)
    stored = Section.objects.select_for_update(of=("self",)).get(pk=asked.name)
    if stored.version != version:
        raise Conflict(stored)
    before: dict[str, str] = stored.content
    if content == before:
        return stored
    rows = []
    known = Logo.objects.filter(pk=content.get("logo", "")).exists()
    if logo is not None and not known:
        logo.save(force_insert=True)
        rows.append(LOGO.row(logo))
    elif "logo" in content and not known:
        told = gettext("This logo is not there any more. Choose the file again.")
        raise Refused({"logo": told})
    stored.content, stored.sha256 = content, digest(content)
    stored.version, stored.changed_at, stored.changed_by = version + 1, now, by
    stored.save()
    names = [field.name for field in asked.fields]
    record_system(
        kind=CHANGED,
        payload={
            "section": asked.name,
            "version": stored.version,
            "changed": {
                each: [before.get(each, ""), content.get(each, "")]
                for each in names
                if before.get(each, "") != content.get(each, "")
            },
        },
        actor=by.actor if by else "system",
        rows=[SECTION.row(stored), *rows],
    )
    return stored
