"""The demo's French: whole, and with the same figures as the English."""

from __future__ import annotations

import re
from functools import cache

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import SERVICE_TEXTS, Release
from ieim.pipeline.ports import Query
from ieim.search import index_for
from tests.fixtures import DEMO

FIGURES = re.compile(r"MRK [\d,.]*\d|\+999[\d ]*\d|\d\d:\d\d|\d+%|\S+@\S+\.example")
QUESTIONS = {
    "Comment renouveler mon passeport ?": "passports.renew-passport",
    "J'ai perdu mon passeport, que faire ?": "passports.lost-passport",
    "Je voudrais prolonger mon visa de touriste": "immigration.extend-tourist-visa",
    "Où déclarer la naissance de mon enfant ?": "civil-registry.register-birth",
    "J'ai déménagé, comment changer d'adresse ?": "municipal.register-address",
    "Je cherche un logement social": "housing.social-housing",
    # There is only the English of these: their category's words lead to them.
    "J'ai reçu une amende pour excès de vitesse": "vehicles.traffic-fine",
    "Comment obtenir une bourse d'études ?": "education.student-grant",
    "Je voudrais enregistrer mon chien": "municipal.register-dog",
}


@cache
def demo() -> Release:
    return read_bundle(DEMO).release()


@cache
def french() -> Release:
    return demo().in_language("fr")


def test_it_names_all_agencies_and_categories() -> None:
    written, view = demo().agencies, french().agencies
    for name in ("name", "description"):
        assert [i for i in written if getattr(view[i], name) == getattr(written[i], name)] == []
    rows = {(t.agency, t.category) for t in demo().translations if t.category and t.keywords}
    assert rows == set(demo().categories)


def test_it_says_everything_of_the_services_that_are_asked_for_most() -> None:
    assert len(french().translated) >= 10
    assert all(texts == set(SERVICE_TEXTS) for texts in french().translated.values())
    for key in french().translated:
        for name in ("requirements", "how_to_apply"):
            ours, theirs = (getattr(r.services[key], name) for r in (french(), demo()))
            assert len(ours) == len(theirs), (key, name)


@pytest.mark.parametrize("name", SERVICE_TEXTS)
def test_it_gives_the_same_figures_as_the_english(name: str) -> None:
    for key in french().translated:
        texts = (getattr(entry.services[key], name) for entry in (french(), demo()))
        ours, theirs = (
            sorted(FIGURES.findall(text if isinstance(text, str) else "\n".join(text)))
            for text in texts
        )
        assert ours == theirs, (key, name)


@pytest.mark.parametrize(("question", "key"), QUESTIONS.items())
def test_it_finds_by_a_question_in_french(question: str, key: str) -> None:
    result = index_for(french()).rank(Query(question)).services(limit=1)
    assert result[0].item.key == key
