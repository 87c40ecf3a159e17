from __future__ import annotations

import json
import unicodedata
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Row, Table
from ieim.studio.standards.report import Report
from ieim.studio.standards.schema_org import release_json_ld, service_json_ld
from ieim.studio.standards.texts import duration, plain
from tests.knowledge.bundles import tables
from tests.studio.standards.samples.samples import read

BASE = "https://ask.example"
Rows = dict[Table, list[dict[str, Any]]]


def carried(text: str) -> bool:
    """Whether JSON-LD carries a text as it is: it is no markup, no blank and no duration."""
    return bool(text.strip()) and plain(text, "", Report()) == text and duration(text) == text


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\x00")
TEXT = st.text(CHARACTERS, min_size=1, max_size=30).filter(carried)
SOMETIMES = st.just("") | TEXT
LIST = st.lists(TEXT, max_size=3)
ID = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
IDS = ID.filter(lambda text: "://" not in text and unicodedata.normalize("NFC", text) == text)
LINK = st.sampled_from(["", "https://x.example/a?b=1&c=2", "http://y.example/"])
PATH = LINK | TEXT.map(lambda text: f"Home > {text.strip()}")
KEYS = st.lists(IDS, unique=True, max_size=3)
AMOUNTS = st.lists(st.sampled_from(["45.00 EUR", "0 MRK (children)", "7 USD (a copy)"]), max_size=3)
PLACED = st.fixed_dictionaries(
    {
        "places": st.sampled_from(
            [[], ["City Hall, Quay 4"], ["Depot, Mill Lane", "Yard, Quay 5"]]
        ),
        "hours": st.sampled_from(
            [
                [],
                ["Mo-Fr 09:00-16:00", "Sa 10:00-12:00"],
                ["Mo,We 09:00-16:00"],
            ]
        ),
    }
)
COLUMN = {"keywords": LIST, "requirements": LIST, "how_to_apply": LIST, "name": TEXT}


@st.composite
def bundles(draw: st.DrawFn) -> Rows:
    """Any bundle of what JSON-LD carries; what is translated has a name in that language."""
    rows: Rows = {table: [] for table in TABLES}
    for agency in draw(st.lists(IDS, unique=True, min_size=1, max_size=3)):
        path, about = draw(PATH), draw(SOMETIMES)
        named: dict[str, Any] = {
            "id": agency,
            "name": draw(TEXT),
            "path": path,
            "description": about,
        }
        named |= draw(PLACED)
        rows["agencies"].append(named)
        of = {"agency": agency, "category": "", "service": ""}
        rows["translations"].extend(draw(translations("agency", of)))
        keys = draw(KEYS)
        for key in keys:
            entry = {"agency": agency, "key": key, "value": draw(TEXT), "keywords": draw(LIST)}
            rows["dictionary"].append(entry)
            rows["translations"].extend(draw(translations("category", of | {"category": key})))
        for key in draw(KEYS):
            chosen = [result for result in keys if draw(st.booleans())]
            texts = {name: draw(COLUMN.get(name, SOMETIMES)) for name in TRANSLATED["service"]}
            links = {"path": draw(PATH), "url": draw(LINK), "categories": chosen}
            values = draw(PLACED) | {"amounts": draw(AMOUNTS)}
            rows["services"].append({"agency": agency, "key": key, **texts, **links, **values})
            rows["translations"].extend(draw(translations("service", of | {"service": key})))
    return rows


@st.composite
def translations(draw: st.DrawFn, kind: str, of: dict[str, str]) -> list[dict[str, Any]]:
    """Translations of one entry."""
    languages = draw(st.lists(st.sampled_from(["fr", "de", "en", "yue"]), unique=True, max_size=2))
    return [
        {"language": language, **of}
        | {name: draw(COLUMN.get(name, SOMETIMES)) for name in TRANSLATED[kind]}
        for language in languages
    ]


def bundle(rows: Rows) -> Bundle:
    return bundle_of(
        {t: [Row("", None, values) for values in result] for t, result in rows.items()}
    )


def expected(bundle: Bundle, table: Table) -> list[dict[str, Any]]:
    """The rows of a bundle's table, without blanks."""
    return [
        {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in row.items()
            if value or name in IDENTITY[table]
        }
        for row in bundle.content.get(table, [])
    ]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(bundles())
def test_what_is_published_is_read_back(rows: Rows) -> None:
    published = bundle(rows)
    mapped, report = read(release_json_ld(published.release(1), BASE))
    for table in ("agencies", "dictionary", "services"):
        assert list(mapped.rows.get(table, {}).values()) == expected(published, table)
    rows_of_services = [{"situation": "", **r} for r in expected(published, "translations")]
    translated = {tuple(r[c] for c in IDENTITY["translations"]): r for r in rows_of_services}
    assert mapped.rows.get("translations", {}) == translated
    assert report.notes == []


@given(bundles().filter(lambda rows: rows["services"]))
def test_one_service_is_read_back_alone(rows: Rows) -> None:
    release = bundle(rows).release(1)
    service = next(iter(release.services.values()))
    mapped, report = read(service_json_ld(release, service, BASE))
    assert list(mapped.rows["services"]) == [(service.agency, service.key)]
    (result,) = mapped.rows["services"].values()
    assert result.get("categories", []) == list(service.categories)
    assert list(mapped.rows["agencies"]) == [(service.agency,)]
    assert report.notes == []


SCHEMA_ORG = {
    "GovernmentOrganization": {
        *("identifier", "name", "description", "url", "mainEntityOfPage", "location"),
    },
    "GovernmentService": {
        *("identifier", "name", "description", "url", "mainEntityOfPage", "provider", "audience"),
        *("category", "availableChannel", "subjectOf", "feesAndCommissionsSpecification"),
        "offers",
    },
    "CategoryCode": {"codeValue", "name", "alternateName", "inCodeSet"},
    "CategoryCodeSet": {"publisher"},
    "ServiceChannel": {"serviceUrl", "processingTime", "servicePhone", "serviceLocation"},
    "CivicStructure": {"name", "address", "openingHours"},
    "Offer": {"name", "price", "priceCurrency"},
    "ContactPoint": {"description"},
    "Audience": {"audienceType"},
    "HowTo": {"inLanguage", "supply", "step"},
    "HowToSupply": {"name"},
    "HowToStep": {"position", "text"},
    "WebPage": {"breadcrumb"},
}
"""The types that are published, and which of schema.org's properties of each."""


def check(value: Any, ids: set[str]) -> None:
    """Fail on a type, a property or a reference that schema.org, or the document, has not."""
    if isinstance(value, list):
        assert len(value) > 1
        for item in value:
            check(item, ids)
    elif isinstance(value, dict):
        if set(value) == {"@language", "@value"}:
            return
        if set(value) == {"@id"}:
            assert value["@id"] in ids
            return
        assert set(value) - {"@id", "@type"} <= SCHEMA_ORG[value["@type"]]
        for name, inner in value.items():
            if name not in ("@id", "@type"):
                check(inner, ids)
    else:
        assert isinstance(value, str | int)
        assert value != ""


@given(bundles())
def test_what_is_published_has_the_types_and_properties_of_schema_org(rows: Rows) -> None:
    document = release_json_ld(bundle(rows).release(1), BASE)
    assert document["@context"] == "https://schema.org"
    ids = [node["@id"] for node in document["@graph"]]
    assert len(ids) == len(set(ids))
    for node in document["@graph"]:
        check(node, set(ids))


def test_a_service_is_published_whole() -> None:
    rows: Rows = {name: tables()[name] for name in ("agencies", "dictionary", "services")}
    of = {"language": "fr", "agency": "passports", "service": "renew"}
    rows["translations"] = [of | {"name": "Renouveler", "requirements": ["Une photo"]}]
    document = json.loads(json.dumps(release_json_ld(bundle(rows).release(1), BASE)))
    (renew,) = [node for node in document["@graph"] if node.get("identifier") == "renew"]
    assert renew == {
        "@type": "GovernmentService",
        "@id": "https://ask.example/services/passports/renew.jsonld",
        "identifier": "renew",
        "name": ["Renew a passport", {"@language": "fr", "@value": "Renouveler"}],
        "description": "For a passport that runs out.",
        "mainEntityOfPage": {"@type": "WebPage", "breadcrumb": "Home > Travel > Passports"},
        "provider": {"@id": "https://ask.example/services.jsonld#passports"},
        "audience": {"@type": "Audience", "audienceType": "Citizens"},
        "category": {"@id": "https://ask.example/services.jsonld#passports/categories/travel"},
        "feesAndCommissionsSpecification": "80 crowns",
        "availableChannel": {
            "@type": "ServiceChannel",
            "serviceUrl": "https://passports.example/renew",
            "processingTime": "3 weeks",
            "servicePhone": {"@type": "ContactPoint", "description": "+999 1 555 0100"},
        },
        "subjectOf": [
            {
                "@type": "HowTo",
                "supply": [
                    {"@type": "HowToSupply", "name": "A photo"},
                    {"@type": "HowToSupply", "name": "The old passport"},
                ],
                "step": [
                    {"@type": "HowToStep", "position": 1, "text": "Fill in the form"},
                    {"@type": "HowToStep", "position": 2, "text": "Pay"},
                ],
            },
            {
                "@type": "HowTo",
                "inLanguage": "fr",
                "supply": {"@type": "HowToSupply", "name": "Une photo"},
            },
        ],
    }
