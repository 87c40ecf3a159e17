"""Writes: changing one section of the settings, in one transaction with its audit event."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from ieim.administration import logos
from ieim.administration.audited import LOGO, SECTION
from ieim.administration.checks import Wrong
from ieim.administration.hours import BadHours
from ieim.administration.models import Logo, Section
from ieim.administration.sections import SectionOf, section
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


def checked(
    of: SectionOf, typed: Mapping[str, str], logo: bytes | None = None
) -> tuple[dict[str, str], Logo | None]:
    """Return the content to store, without blank fields, and the unsaved row of a new ``logo``.

    Raises :class:`Refused`.
    """
    content, problems, picture = {}, {}, None
    for field in of.fields:
        try:
            content[field.name] = field.check(typed.get(field.name, ""))
        except (Wrong, BadHours) as wrong:
            problems[field.name] = str(wrong.args[0])
    if logo is not None:
        try:
            media_type, data = logos.checked(logo)
        except logos.NoLogo as wrong:
            problems["logo"] = str(wrong.args[0])
        else:
            sha256 = content["logo"] = hashlib.sha256(data).hexdigest()
            now = timezone.now()
            picture = Logo(sha256=sha256, media_type=media_type, content=data, added_at=now)
    if problems:
        raise Refused(problems)
    return {name: text for name, text in content.items() if text}, picture


@transaction.atomic
def change(
    *, name: str, typed: Mapping[str, str], version: int, by: User | None, logo: bytes | None = None
) -> Section:
    """Store what was ``typed`` into a section that the author saw at ``version``.

    ``logo`` is a new picture for a section that has one; without it ``typed["logo"]`` says which
    one stays, empty for none. Where nothing changes, version and audit record stay as they are.
    Raises KeyError for no section, :class:`Refused`, and :class:`Conflict` where somebody else was
    quicker.
    """
    of = section(name)
    content, picture = checked(of, typed, logo)
    now = timezone.now()
    # Two may write a section for the first time at once: one inserts, the other waits for it.
    empty = Section(name=of.name, sha256=digest({}), changed_at=now)
    Section.objects.bulk_create([empty], ignore_conflicts=True)
    stored = Section.objects.select_for_update(of=("self",)).get(pk=of.name)
    if stored.version != version:
        raise Conflict(stored)
    before: dict[str, str] = stored.content
    if content == before:
        return stored
    rows = []
    is_stored = Logo.objects.filter(pk=content.get("logo", "")).exists()
    if picture is not None and not is_stored:
        picture.save(force_insert=True)
        rows.append(LOGO.row(picture))
    elif "logo" in content and not is_stored:
        message = gettext("This logo is not there any more. Choose the file again.")
        raise Refused({"logo": message})
    stored.content, stored.sha256 = content, digest(content)
    stored.version, stored.changed_at, stored.changed_by = version + 1, now, by
    stored.save()
    pairs = {f.name: [before.get(f.name, ""), content.get(f.name, "")] for f in of.fields}
    record_system(
        kind=CHANGED,
        payload={
            "section": of.name,
            "version": stored.version,
            "changed": {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
        },
        actor=by.actor if by else "system",
        rows=[SECTION.row(stored), *rows],
    )
    return stored
