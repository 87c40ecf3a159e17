"""Situations as the events of CPSV-AP: out, in, and what these have no words for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rdflib import RDF, Graph, Namespace, URIRef

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Situation
from ieim.studio.standards.schema_org import release_json_ld
from ieim.studio.standards.services import merge
from tests.knowledge.bundles import tables, write
from tests.studio.standards.samples.samples import notes, read

CV = Namespace("http://data.europa.eu/m8g/")
DCT = Namespace("http://purl.org/dc/terms/")
BASE = "https://ask.example"
RENEW, RETURN = "passports/renew", "tax/return"
TRADE = {"kind": "business", "name": "Closing", "services": [f"{RETURN} | if you owe", RENEW]}
ROWS: list[dict[str, Any]] = [
    {"key": "moving/in", "kind": "life", "name": "Moving", "description": "A new home."},
    {"key": "closing", **TRADE},
]
UNSAID = "neither an order of its services nor for whom they are"


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    return read_bundle(write(tmp_path / "whole", {**tables(), "situations": ROWS}))


def document(bundle: Bundle) -> dict[str, Any]:
    return release_json_ld(bundle.release(1), BASE)


def test_they_are_events_that_group_services(whole: Bundle) -> None:
    published = document(whole)
    context = [{"@vocab": "https://schema.org/"}, published["@context"][1]]
    graph = Graph().parse(data=json.dumps({**published, "@context": context}), format="json-ld")
    closing = URIRef(f"{BASE}/services.jsonld#/situations/closing")
    assert set(graph.subjects(RDF.type, CV.BusinessEvent)) == {closing}
    assert str(graph.value(closing, DCT.title)) == "Closing"
    assert {str(subject) for subject in graph.subjects(CV.isGroupedBy, closing)} == {
        f"{BASE}/services/{RENEW}.jsonld",
        f"{BASE}/services/{RETURN}.jsonld",
    }
    (moving,) = graph.subjects(RDF.type, CV.LifeEvent)
    texts = {str(graph.value(moving, DCT[name])) for name in ("identifier", "description")}
    assert texts == {"moving/in", "A new home."}


def test_what_is_published_is_read_back_but_for_order_and_conditions(whole: Bundle) -> None:
    mapped, report = read(document(whole))
    assert list(mapped.rows["situations"].values()) == [
        ROWS[0],
        {"key": "closing", **TRADE, "services": [RENEW, RETURN]},
    ]
    assert [UNSAID in note for note in notes(report)] == [True]


def test_a_service_alone_says_nothing_of_them(client: Client, whole: Bundle, db: None) -> None:
    import_bundle(bundle=whole, by=None)
    publish(note="", by=None)
    alone = client.get(f"/services/{RENEW}.jsonld").content.decode()
    assert "isGroupedBy" not in alone
    assert json.loads(alone)["@context"] == "https://schema.org"


def test_an_import_keeps_the_order_and_conditions_that_the_draft_has(
    whole: Bundle, editor: User
) -> None:
    import_bundle(bundle=whole, by=None)
    AgencyScope.objects.create(user=editor, agency=EVERY_AGENCY)
    done = merge(mapped=read(document(whole))[0], by=editor)
    assert done.counts["situations"] == {"added": 0, "changed": 0, "unchanged": 2}
    Situation.objects.filter(key="closing").update(services=[f"{RETURN} | if you owe"])
    merge(mapped=read(document(whole))[0], by=editor)
    assert Situation.objects.get(key="closing").services == TRADE["services"]


OFFICE = {"@id": "ex:office", "@type": "cv:PublicOrganisation", "dct:title": "Office"}
EVENT = {"@id": "ex:birth", "@type": "cv:LifeEvent", "dct:title": "Birth"}


def catalogue(*nodes: dict[str, Any], **of_service: Any) -> dict[str, Any]:
    service = {"@id": "ex:s", "@type": "cpsv:PublicService", "dct:title": "S", **of_service}
    context = {
        "ex": "urn:x:",
        "cv": str(CV),
        "dct": str(DCT),
        "cpsv": "http://purl.org/vocab/cpsv#",
    }
    graph = [{**service, "cv:hasCompetentAuthority": {"@id": "ex:office"}}, OFFICE, *nodes]
    return {"@context": context, "@graph": graph}


GROUPED = {"cv:isGroupedBy": {"@id": "ex:birth"}}


@pytest.mark.parametrize(
    "file",
    [
        catalogue(EVENT, **GROUPED),
        catalogue(**{"cv:isGroupedBy": EVENT}),
        catalogue({**EVENT, "dct:relation": {"@id": "ex:s"}}),
    ],
)
def test_an_event_of_another_catalogue_is_a_situation(file: dict[str, Any]) -> None:
    mapped, _ = read(file)
    assert list(mapped.rows["situations"].values()) == [
        {
            "key": "urn:x:birth",
            "kind": "life",
            "name": "Birth",
            "services": ["urn:x:office/urn:x:s"],
        }
    ]
    assert "dictionary" not in mapped.rows


def test_what_else_groups_services_is_a_category() -> None:
    collection = {"@id": "ex:birth", "@type": "skos:Collection", "dct:title": "Family"}
    mapped, _ = read(catalogue(collection, **GROUPED))
    assert "situations" not in mapped.rows
    assert [entry["value"] for entry in mapped.rows["dictionary"].values()] == ["Family"]


def test_an_event_that_is_a_fair_is_no_situation() -> None:
    fair = {"@id": "ex:fair", "@type": "https://schema.org/BusinessEvent", "dct:title": "Fair"}
    mapped, report = read(catalogue(fair))
    assert "situations" not in mapped.rows
    assert any("no service leads to it (schema:BusinessEvent)" in note for note in notes(report))


def test_a_chosen_agency_gets_none() -> None:
    mapped, report = read(catalogue(EVENT, **GROUPED), into="office")
    assert "situations" not in mapped.rows
    assert any("a situation is for every agency" in note for note in notes(report))
