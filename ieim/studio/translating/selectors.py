"""Reads: the texts of the draft beside their translations, and the coverage of each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.text import capfirst

from conversations.turns.languages import written_in
from ieim.administration import selectors as administration
from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Translation
from ieim.studio.drafts.translations import Owner, kind_of, owner_of, source_texts
from ieim.studio.labels import language_label


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the draft's services are translated whole into a language; ``stale`` are those
    with a text that is out of date."""

    code: str
    name: str
    translated: int
    total: int
    stale: int


@dataclass(frozen=True, slots=True)
class Text:
    """A field with its original and its translation; a list has one item a line."""

    field: str
    original: str
    translation: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """An agency, category, service or situation beside its translation into one language."""

    owner: Owner
    name: str
    texts: Sequence[Text]

    @property
    def kind(self) -> str:
        return kind_of(self.owner)

    @property
    def is_stale(self) -> bool:
        return any(text.is_stale for text in self.texts)

    @property
    def is_missing(self) -> bool:
        """Whether a text that has an original is not translated."""
        return any(text.original and not text.translation for text in self.texts)


def target_languages(bundle: Bundle) -> list[str]:
    """Return the languages that the draft is, or is to be, translated into: those that are
    configured, those of the citizen's pages where the settings name them, and those that there
    are."""
    offered = administration.current().get("languages", "offered").split()
    codes = [*settings.IEIM_MODEL["LANGUAGES"], *(code.partition("-")[0] for code in offered)]
    present = sorted({row.language for row in bundle.translations})
    return [code for code in dict.fromkeys([*codes, *present]) if code != written_in()]


def coverage(bundle: Bundle) -> list[Coverage]:
    """Return the coverage of each language of the draft ``bundle``."""
    result = []
    for code in target_languages(bundle):
        services = [entry for entry in entries(bundle, code) if entry.kind == "service"]
        stale = sum(entry.is_stale for entry in services)
        done = sum(not (entry.is_stale or entry.is_missing) for entry in services)
        result.append(Coverage(code, capfirst(language_label(code)), done, len(services), stale))
    return result


def entries(bundle: Bundle, language: str) -> Iterator[Entry]:
    """Yield all that can be translated of ``bundle``, agencies first, then their categories and
    services, and situations last."""
    translations = {owner_of(row): row for row in bundle.translations if row.language == language}
    originals: list[tuple[Owner, str, object]] = [
        *(((a.id, "", ""), a.name, a) for a in bundle.agencies),
        *(((c.agency, c.key, ""), c.value or c.key, c) for c in bundle.dictionary),
        *(((s.agency, "", s.key), s.name, s) for s in bundle.services),
        *((("", "", s.key), s.name, s) for s in bundle.situations),
    ]
    for owner, name, original in originals:
        yield Entry(owner, name, _texts(owner, original, translations.get(owner)))


def _texts(owner: Owner, original: object, translation: Translation | None) -> list[Text]:
    result = []
    for field, source in source_texts(original, kind_of(owner)).items():
        target = getattr(translation, field, "")
        text = Text(
            field,
            _shown(source),
            _shown(target),
            translation is not None and field in translation.stale,
        )
        if text.original or text.translation:
            result.append(text)
    return result


def _shown(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else "\n".join(value)
