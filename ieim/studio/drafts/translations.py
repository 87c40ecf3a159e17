"""Stale translations: texts whose original has changed since they were made.

Each translation stores, by field, the SHA-256 of the original that it was made from. A field
without one is current. Keywords have none: citizens do not read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.knowledge.bundles.situations import line, parts
from ieim.pipeline import knowledge
from ieim.pipeline.canonical import digest
from ieim.studio.drafts.merging import WHOLE
from ieim.studio.models import Agency, Category, DraftEntry, Service, Situation, Translation

Owner: TypeAlias = tuple[str, str, str]
"""The agency, category and service of a translation; the last two may be "". Of a situation the
last is its key, and the others are ""."""
Digests: TypeAlias = dict[str, str]
"""SHA-256 of texts, by field of a translation."""


def kind_of(owner: Owner) -> str:
    """Return what a translation is of: a key of ``TRANSLATED``."""
    agency, category, service = owner
    if not agency:
        return "situation"
    return "category" if category else "service" if service else "agency"


def source_texts(original: object, kind: str) -> dict[str, str | list[str]]:
    """Return the texts of an agency, category, service or situation by field of its translations,
    without keywords; ``original`` is a row of the draft or of a bundle.

    Conditions are lines of the services that have one; their order is none of a translation's.
    """
    texts: dict[str, str | list[str]] = {}
    for name in TRANSLATED[kind]:
        if name == "conditions":
            lines = map(parts, original.services)  # type: ignore[attr-defined]  # a situation's
            texts[name] = sorted(line(*both) for both in lines if both[1])
        elif name != "keywords":
            value = getattr(original, "value" if kind == "category" else name)
            texts[name] = value if isinstance(value, str) else list(value)
    return texts


def _digests(original: object, kind: str) -> Digests:
    return {name: digest(text) for name, text in source_texts(original, kind).items()}


def set_sources(rows: Iterable[Any], before: Iterable[DraftEntry]) -> None:
    """Set ``sources`` of translations that are about to be stored.

    ``before`` are those that are stored now. A text that changes is made from the original in the
    draft; one that stays keeps its source.
    """
    rows = [row for row in rows if isinstance(row, Translation)]
    stored = {row.pk: row for row in before if isinstance(row, Translation)}
    originals = _originals({row.agency_id or "" for row in rows})
    for row in rows:
        current, old = originals.get(owner_of(row), {}), stored.get(row.pk)
        kept = old.sources if old else {}
        row.sources = {
            name: kept[name] if name in kept and getattr(old, name) == getattr(row, name) else value
            for name, value in current.items()
            if getattr(row, name)
        }


def with_stale(bundle: Bundle) -> Bundle:
    """Return the ``bundle``, which has the rows of the draft, with its stale texts named."""
    if not bundle.translations:
        return bundle
    originals = _of_bundle(bundle)
    sources = {
        (row.language, *owner_of(row)): row.sources
        for row in Translation.objects.only(
            "language", "agency", "category", "service", "situation", "sources"
        )
    }
    digests: dict[Owner, Digests] = {}

    def marked(row: knowledge.Translation) -> knowledge.Translation:
        owner = owner_of(row)
        made_from = sources.get((row.language, *owner))
        if not made_from or owner not in originals:
            return row
        if owner not in digests:
            digests[owner] = _digests(originals[owner], kind_of(owner))
        return replace(row, stale=stale_fields(made_from, digests[owner]))

    return replace(bundle, translations=tuple(map(marked, bundle.translations)))


def stale_in(
    bundle: Bundle, base: Bundle | None, columns: Mapping[tuple[str, str], frozenset[str]]
) -> Bundle:
    """Return the ``bundle``, put together of ``base`` and ``columns`` of the draft, with its stale
    texts named.

    The draft's sources tell of texts that are the draft's. Of the others, what was stale in
    ``base`` is so, and what has another original here.
    """
    if base is None:
        return with_stale(bundle)
    before, after = _of_bundle(base), _of_bundle(bundle)

    def marked(row: knowledge.Translation, by_source: knowledge.Translation) -> Any:
        names = filter(None, (row.language, *owner_of(row)))
        own = columns.get(("translations", " ".join(names)), frozenset())
        if own & {WHOLE, "stale"}:
            return by_source
        owner = owner_of(row)
        if owner not in before or owner not in after:
            return row
        old, new = (source_texts(side[owner], kind_of(owner)) for side in (before, after))
        changed = [name for name in new if old[name] != new[name] and getattr(row, name)]
        others = [name for name in dict.fromkeys((*row.stale, *changed)) if name not in own]
        drafted = [name for name in by_source.stale if name in own]
        return replace(row, stale=(*others, *drafted))

    pairs = zip(bundle.translations, with_stale(bundle).translations, strict=True)
    return replace(bundle, translations=tuple(marked(*pair) for pair in pairs))


def _of_bundle(bundle: Bundle) -> dict[Owner, object]:
    """Return everything that can be translated."""
    originals: dict[Owner, object] = {(a.id, "", ""): a for a in bundle.agencies}
    originals |= {(c.agency, c.key, ""): c for c in bundle.dictionary}
    originals |= {(s.agency, "", s.key): s for s in bundle.services}
    return originals | {("", "", s.key): s for s in bundle.situations}


def stale_fields(made_from: Mapping[str, str], current: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields whose original is not the one that they were made from."""
    return tuple(n for n, value in current.items() if made_from.get(n, value) != value)


def current_sources(row: Translation) -> Digests:
    """Return the digests of the originals of a translation as they are now."""
    current = _originals({row.agency_id or ""}).get(owner_of(row), {})
    return {name: value for name, value in current.items() if getattr(row, name)}


def _originals(agencies: Iterable[str]) -> dict[Owner, Digests]:
    """Return the digests of everything that can be translated of ``agencies``, and of situations
    where "" is among them."""
    names = set(agencies)
    digests = {
        (agency.pk, "", ""): _digests(agency, "agency")
        for agency in Agency.objects.filter(pk__in=names)
    }
    for category in Category.objects.filter(agency__in=names):
        digests[category.agency_id, category.key, ""] = _digests(category, "category")
    for service in Service.objects.filter(agency__in=names):
        digests[service.agency_id, "", service.key] = _digests(service, "service")
    for situation in Situation.objects.all() if "" in names else ():
        digests["", "", situation.key] = _digests(situation, "situation")
    return digests


def owner_of(row: Translation | knowledge.Translation) -> Owner:
    """Return what a translation, of the draft or of a bundle, is of."""
    agency = row.agency_id if isinstance(row, Translation) else row.agency
    return agency or "", row.category, row.service or row.situation
