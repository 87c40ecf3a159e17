from __future__ import annotations

import json
from typing import Any

import pyshacl
import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from rdflib import Graph
from rdflib.compare import isomorphic

from ieim.config.management.commands.serve import DEMO_KNOWLEDGE
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Release
from ieim.studio.standards.cpsv_ap import release_cpsv, turtle
from tests.knowledge.bundles import tables
from tests.studio.standards.samples.samples import HERE, read
from tests.studio.standards.test_round_trip import BASE, Rows, bundle, bundles

SHAPES = HERE / "cpsv_ap_3.2.0_shapes.ttl"
"""The official ones; the file names source and licence."""


def rows() -> Rows:
    """A bundle with translations and situations, all of whose lists are translated whole.

    Its originals pass for German: what is in English is a translation.
    """
    content: Any = tables()
    service = {"language": "fr", "agency": "passports", "service": "renew"}
    content["services"][0]["amounts"] = ["80.00 EUR", "0 EUR (Kinder)"]
    return {
        **{name: content[name] for name in ("agencies", "dictionary", "services")},
        "translations": [
            {"language": "en", "agency": "tax", "name": "Revenue Service"},
            {"language": "fr", "agency": "passports", "name": "Bureau des passeports"},
            {"language": "fr", "agency": "passports", "category": "travel", "name": "Voyages"},
            service
            | {
                "name": "Renouveler",
                "requirements": ["Une photo", "L'ancien passeport"],
                "how_to_apply": ["Remplir le formulaire", "Payer"],
                "fees": "80 couronnes",
                "processing_time": "3 semaines",
                "contact": "Guichet 3",
            },
        ],
        "situations": [
            {"key": "abroad", "kind": "life", "name": "Moving abroad",
             "services": ["passports/renew"]},
        ],
    }  # fmt: skip


def graphs(release: Release) -> tuple[Graph, Graph]:
    """The triples of both syntaxes."""
    document = release_cpsv(release, BASE, "de")
    first = Graph().parse(data=json.dumps(document), format="json-ld")
    return first, Graph().parse(data=turtle(document), format="turtle")


def complaints(graph: Graph) -> str:
    """What the shapes of CPSV-AP have against a graph, "" for nothing."""
    conforms, _, text = pyshacl.validate(graph, shacl_graph=str(SHAPES), inference="none")
    return "" if conforms else str(text)


def test_a_release_conforms_to_the_profile() -> None:
    graph, _ = graphs(bundle(rows()).release(1))
    assert len(graph) > 50
    assert complaints(graph) == ""


def test_the_shapes_see_what_is_missing() -> None:
    document = release_cpsv(bundle(rows()).release(1), BASE, "de")
    del document["@graph"][0]["skos:prefLabel"]
    text = complaints(Graph().parse(data=json.dumps(document), format="json-ld"))
    assert "prefLabel" in text


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(bundles())
def test_both_syntaxes_say_the_same(rows: Rows) -> None:
    as_json, as_turtle = graphs(bundle(rows).release(1))
    assert isomorphic(as_json, as_turtle)


def test_what_is_published_is_read_back() -> None:
    content = rows()
    mapped, _ = read(release_cpsv(bundle(content).release(1), BASE, "de"))
    expected = dict(content["services"][0])
    del expected["path"]  # words have no place in CPSV-AP
    assert mapped.rows["services"]["passports", "renew"] == expected
    assert mapped.rows["agencies"]["passports",] == content["agencies"][0]
    assert mapped.rows["dictionary"]["passports", "travel"] == content["dictionary"][0]
    assert mapped.rows["situations"]["abroad",] == content["situations"][0]
    translated = mapped.rows["translations"]["fr", "passports", "", "renew", ""]
    assert translated == {"category": "", "situation": "", **content["translations"][3]}


@pytest.mark.parametrize(
    ("path", "media_type", "form"),
    [
        ("/services.cpsv.jsonld", "application/ld+json", "json-ld"),
        ("/services.ttl", "text/turtle; charset=utf-8", "turtle"),
    ],
)
def test_everybody_may_fetch_it(
    client: Client, published: str, path: str, media_type: str, form: str
) -> None:
    response = client.get(path)
    assert response.headers["Content-Type"] == media_type
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    names = (
        Graph()
        .parse(data=response.content, format=form)
        .query(
            "SELECT ?name {?s a <http://purl.org/vocab/cpsv#PublicService>;"
            " <http://purl.org/dc/terms/title> ?name}"
        )
    )
    assert {str(row[0]) for row in names} == {"Renew a passport", "File a tax return"}  # type: ignore[index]  # a SELECT has rows
    again = client.get(path, headers={"If-None-Match": f'"{published}"'})
    assert again.status_code == 304


@pytest.mark.whole
def test_the_demo_conforms() -> None:
    graph, _ = graphs(read_bundle(DEMO_KNOWLEDGE).release(1))
    assert complaints(graph) == ""
