"""Reads: the translations that a change set makes out of date, and their drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ieim.pipeline.knowledge import Release, Translation
from ieim.studio.drafting.requests import texts_of
from ieim.studio.drafts.translations import Owner
from ieim.studio.labels import language_label
from ieim.studio.models import DraftingRun


@dataclass(frozen=True, slots=True)
class StaleTranslation:
    """A translation with a text that is out of date; ``run`` is the newest draft of the original as
    it is now."""

    owner: Owner
    language: str
    name: str
    run: DraftingRun | None

    @property
    def language_name(self) -> str:
        return language_label(self.language)

    @property
    def is_drafted(self) -> bool:
        """Whether a draft is there or under way."""
        return self.run is not None and self.run.state != DraftingRun.State.FAILED


def stale_translations(before: Release | None, after: Release) -> Sequence[StaleTranslation]:
    """Return the translations that are out of date ``after`` a change and were not ``before``."""
    was_stale = {_key(row): row.stale for row in (before.translations if before else ())}
    rows = [
        row
        for row in after.translations
        if not row.situation and set(row.stale) - set(was_stale.get(_key(row), ()))
    ]
    kind = DraftingRun.Kind.TRANSLATION
    runs = DraftingRun.objects.filter(kind=kind, agency__in={row.agency for row in rows})
    newest = {(run.language, *run.owner): run for run in runs.defer("result").order_by("pk")}
    result = []
    for row in rows:
        owner = (row.agency, row.category, row.service)
        texts, run = texts_of(after, owner, kind), newest.get(_key(row))
        is_current = run is not None and run.seen["texts"] == texts
        name = str(texts.get("name", ""))
        result.append(StaleTranslation(owner, row.language, name, run if is_current else None))
    return result


def _key(row: Translation) -> tuple[str, str, str, str]:
    return row.language, row.agency, row.category, row.service
