"""A real catalogue with a little French: what is translated is found, and hides nothing else.

The catalogue itself is in English (two of its 1,431 texts are not): the French here is ours.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.llm.offline import OfflineModel
from ieim.pipeline.knowledge import Release, Translation
from ieim.pipeline.runner import Runner
from ieim.pipeline.work import Answered, Turn
from ieim.search import index_for
from tests.pipeline.drive import MemoryStore

CATALOGUE = Path(__file__).resolve().parents[4] / "shared" / "data" / "catalogues" / "ca"

pytestmark = pytest.mark.skipif(
    not CATALOGUE.is_dir(), reason="needs the catalogue in ../shared/data/catalogues/ca"
)

ESDC, RCMP, PAROLE = "esdc-edsc", "rcmp-grc", "pbc-clcc"
FRENCH = (
    Translation("fr", ESDC, name="Emploi et Développement social Canada"),
    Translation("fr", RCMP, name="Gendarmerie royale du Canada"),
    Translation("fr", PAROLE, name="Commission des libérations conditionnelles du Canada"),
    Translation("fr", ESDC, category="passport", name="Passeport", keywords=("passeport perdu",)),
    Translation(
        "fr",
        ESDC,
        service="esdc-edsc.1242",
        name="Passeport canadien",
        overview="Demander, renouveler ou remplacer un passeport canadien.",
    ),
    Translation(
        "fr",
        ESDC,
        service="esdc-edsc.1003",
        name="Prestations d’assurance-emploi",
        overview="Une aide financière pour les personnes qui ont perdu leur emploi sans faute.",
    ),
    Translation(
        "fr",
        ESDC,
        service="esdc-edsc.1001",
        name="Prestations de la Sécurité de la vieillesse",
        overview="Une pension mensuelle pour les personnes de 65 ans et plus.",
    ),
    Translation(
        "fr",
        RCMP,
        service="rcmp-grc.926",
        name="Permis d’armes à feu pour les particuliers",
        overview="Toute personne qui veut posséder une arme à feu a besoin d’un permis.",
    ),
    Translation(
        "fr",
        PAROLE,
        service="pbc-clcc.1892",
        name="Demande de suspension du casier judiciaire",
        overview="Pour les personnes condamnées qui ont purgé leur peine.",
    ),
)
QUESTIONS = {
    "Comment renouveler mon passeport canadien ?": "esdc-edsc.1242",
    "J’ai perdu mon emploi, comment obtenir l’assurance-emploi ?": "esdc-edsc.1003",
    "À quel âge touche-t-on la pension de la sécurité de la vieillesse ?": "esdc-edsc.1001",
    "Quel permis me faut-il pour posséder une arme à feu ?": "rcmp-grc.926",
    "Je veux faire suspendre mon casier judiciaire": "pbc-clcc.1892",
}


@pytest.fixture(scope="module")
def release() -> Release:
    return replace(read_bundle(CATALOGUE), translations=FRENCH).release(1)


@pytest.mark.parametrize(("question", "key"), QUESTIONS.items())
def test_it_finds_by_a_question_in_french(release: Release, question: str, key: str) -> None:
    found = index_for(release.in_language("fr")).services(question, agencies=None, limit=3)
    assert found[0].item.key == key


def test_it_finds_less_in_the_english_alone(release: Release) -> None:
    """Else the questions above would show nothing."""
    index = index_for(release)
    found = {q: index.services(q, agencies=None, limit=1)[0].item.key for q in QUESTIONS}
    assert sum(found[question] != key for question, key in QUESTIONS.items()) >= 3


def test_it_answers_in_french(release: Release) -> None:
    view = release.in_language("fr")
    runner = Runner(
        model=OfflineModel(),
        shortlist=index_for(view),
        release=view,
        clock=map(float, itertools.count()).__next__,
        pause=lambda _seconds: None,
        backoff=float,
    )
    question = "Comment renouveler mon passeport canadien ?"
    outcome = runner.run(Turn("t", "s", question, language="fr"), MemoryStore())
    assert isinstance(outcome, Answered)
    said = outcome.reply
    assert (said.title, said.language) == ("Passeport canadien", "fr")
    assert said.sources[0].agency_name == "Emploi et Développement social Canada"
    assert "title" not in said.original


def test_it_still_finds_everything_that_is_not_translated(release: Release) -> None:
    view = release.in_language("fr")
    translated = set(view.translated)
    missed = []
    for key, service in list(release.services.items())[::29]:
        if key not in translated:
            found = index_for(view).services(service.name, agencies=[service.agency], limit=5)
            names = {each.item.name for each in found}
            missed += [] if service.name in names else [key]
    assert missed == []
