"""The demo in all languages of the pages: whole, and with the same facts as the English."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import pytest
from django.conf import settings

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import SERVICE_TEXTS, Release
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.ports import Query
from ieim.search import index_for
from ieim.studio.checks.rules import different_figures
from tests.fixtures import DEMO

LANGUAGES = sorted(detected_code(code.partition("-")[0]) for code, _ in settings.LANGUAGES)
TRANSLATED = [code for code in LANGUAGES if code != "en"]
KINDS = ("money", "percent", "url", "email")
"""The facts that are read alike in every language; dates and the rest are compared as figures."""
QUESTIONS = {
    ("fr", "Comment renouveler mon passeport ?"): "passports.renew-passport",
    ("fr", "J'ai perdu mon passeport, que faire ?"): "passports.lost-passport",
    ("fr", "Je voudrais prolonger mon visa de touriste"): "immigration.extend-tourist-visa",
    ("fr", "J'ai reçu une amende pour excès de vitesse"): "vehicles.traffic-fine",
    ("de", "Wie melde ich meinen Hund an?"): "municipal.register-dog",
    ("de", "Mein Vermieter gibt mir die Kaution nicht zurück"): "housing.deposit-dispute",
    ("es", "¿Cómo renovar mi pasaporte?"): "passports.renew-passport",
    ("es", "Quiero solicitar una vivienda social"): "housing.social-housing",
    ("zh", "怎样申请助学金？"): "education.student-grant",
    ("ar", "تسجيل عنوان جديد"): "municipal.register-address",
    ("tl", "Paano magparehistro ng aso?"): "municipal.register-dog",
}


@cache
def demo() -> Bundle:
    return read_bundle(DEMO)


@cache
def written() -> Release:
    return demo().release()


def values(texts: str | Sequence[str]) -> set[tuple[str, str]]:
    text = texts if isinstance(texts, str) else "\n".join(texts)
    found = facts(text, currencies={"MRK"})
    return {(fact.kind, fact.value) for fact in found if fact.kind in KINDS}


def lengths(texts: Iterable[str | Sequence[str]]) -> list[int]:
    return [0 if isinstance(text, str) else len(text) for text in texts]


def test_it_is_in_all_languages_of_the_pages() -> None:
    assert sorted(written().languages) == TRANSLATED
    assert len(TRANSLATED) == 6


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_is_translated(language: str) -> None:
    rows = [row for row in written().translations if row.language == language]
    agencies = {r.agency for r in rows if r.name and r.description and not r.situation}
    assert agencies == set(written().agencies)
    categories = {(r.agency, r.category) for r in rows if r.category and r.name and r.keywords}
    assert categories == set(written().categories)
    view = written().in_language(language)
    for key, service in written().services.items():
        texts = {name for name in SERVICE_TEXTS if getattr(service, name)}
        assert view.translated.get(key, set()) == texts, key
        both = ([getattr(s, name) for name in SERVICE_TEXTS] for s in (service, view.services[key]))
        original, translation = map(lengths, both)
        assert original == translation, key
    for name, situation in written().situations.items():
        translated = view.situations[name]
        steps = zip(situation.steps, translated.steps, strict=True)
        pairs = [(a.condition, b.condition) for a, b in steps if a.condition]
        pairs += [
            (situation.name, translated.name),
            (situation.description, translated.description),
        ]
        assert [ours for ours, theirs in pairs if ours == theirs] == [], name


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_translation_states_the_facts_of_the_original(language: str) -> None:
    view = written().in_language(language)
    for key, service in written().services.items():
        for name in SERVICE_TEXTS:
            translation = getattr(view.services[key], name)
            assert values(translation) == values(getattr(service, name)), (key, name)


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_text_names_another_service(language: str) -> None:
    services = written().in_language(language).services
    for key, service in services.items():
        texts = (getattr(service, name) for name in SERVICE_TEXTS if name != "name")
        text = "\n".join(t if isinstance(t, str) else "\n".join(t) for t in texts).casefold()
        named = [k for k, s in services.items() if k != key and s.name.casefold() in text]
        assert named == [], key


def test_the_check_across_languages_finds_no_other_figure() -> None:
    assert list(different_figures(demo())) == []


@pytest.mark.parametrize(("language", "question"), QUESTIONS)
def test_it_finds_by_a_question_in_the_language(language: str, question: str) -> None:
    view = written().in_language(language)
    result = index_for(view).rank(Query(question)).services(limit=1)
    assert result[0].item.key == QUESTIONS[language, question]
