from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from rdflib.plugins.shared.jsonld import context as rdflib_context

from ieim.studio.standards.report import StandardError
from tests.studio.standards.samples.samples import (
    CPSV,
    PASSPORTS,
    RENEW,
    SCHEMA_ORG,
    notes,
    problems,
    read,
    row,
)

RETURN = "return-7d30567acd9d"
OFFICE = {"@type": "GovernmentOrganization", "identifier": "office", "name": "Office"}


def service(**changes: Any) -> dict[str, Any]:
    """A small service of one agency."""
    return {
        "@context": "https://schema.org",
        "@type": "GovernmentService",
        "identifier": "s",
        "name": "A service",
        "provider": OFFICE,
        **changes,
    }


def test_it_maps_schema_org() -> None:
    mapped, _ = read(SCHEMA_ORG)
    assert row(mapped, "agencies", PASSPORTS) == {
        "id": PASSPORTS,
        "name": "Passport Office",
        "path": "https://passports.example",
    }
    assert row(mapped, "services", PASSPORTS, RENEW) == {
        "agency": PASSPORTS,
        "key": RENEW,
        "name": "Renew a passport",
        "overview": "For a passport that runs out.",
        "applicability_summary": "Citizens\nArea: Exampleland",
        "requirements": ["A photo", "The old passport"],
        "fees": "80 crowns",
        "processing_time": "3 weeks",
        "how_to_apply": ["Fill in the form", "Pay"],
        "contact": "Help line: Phone: +999 1 555 0100\nLanguages: en, fr",
        "url": "https://passports.example/renew?a=1&b=2",
        "categories": ["Travel"],
    }


def test_it_makes_translations_of_language_maps() -> None:
    mapped, _ = read(SCHEMA_ORG)
    renew = row(mapped, "translations", "fr", PASSPORTS, "", RENEW, "")
    assert (renew["name"], renew["fees"]) == ("Renouveler un passeport", "80 couronnes")
    lost = row(mapped, "translations", "fr", PASSPORTS, "", "lost", "")
    assert lost["name"] == "Signaler une perte"
    assert row(mapped, "services", PASSPORTS, "lost")["name"] == "Report a lost passport"
    assert {identity[0] for identity in mapped.rows["translations"]} == {"fr"}


def test_it_tells_what_has_no_place() -> None:
    _, report = read(SCHEMA_ORG)
    result = notes(report)
    assert "left out 1 /@graph/*/logo: the index has no place for it" in result
    assert "left out 1 /@graph/*: no service leads to it (schema:Event)" in result
    assert any("isRelatedTo" in entry for entry in result)
    assert "changed 1 /@graph/*/description: markup became plain text" in result
    assert any("/@graph/*: path begins with javascript:" in entry for entry in result)


def test_it_maps_cpsv_ap() -> None:
    mapped, report = read(CPSV)
    office = "office-f0cf325ac55d"
    assert row(mapped, "agencies", office)["name"] == "Revenue Service"
    assert row(mapped, "services", office, RETURN) == {
        "agency": office,
        "key": RETURN,
        "name": "File a tax return",
        "overview": "Every year.",
        "requirements": ["A payslip"],
        "amounts": ["5.5 EUR (On paper)"],
        "processing_time": "10 days",
        "how_to_apply": ["Log in"],
        "contact": "Phone: +999 1 555 0177\nHours: Every day from 9 to 5",
        "categories": ["income-tax-54508d481e52"],
    }
    translated = row(mapped, "translations", "de", office, "", RETURN, "")
    assert translated["name"] == "Steuererklärung"
    assert row(mapped, "translations", "de", office, "", "", "")["name"] == "Steueramt"
    assert any("hasLegalResource" in note for note in notes(report))


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ("https://schema.org", "name"),
        ("http://schema.org/", "name"),
        (["https://schema.org/docs/jsonldcontext.jsonld"], "name"),
        ({"@vocab": "http://schema.org/"}, "name"),
        ({"s": "https://schema.org/", "label": "s:name"}, "label"),
        ({"s": "https://schema.org/"}, "s:name"),
        ({}, "https://schema.org/name"),
        ({"titel": {"@id": "http://purl.org/dc/terms/title"}}, "titel"),
        ({"@base": "https://x.example/", "@vocab": "https://schema.org/"}, "name"),
    ],
)
def test_it_expands_names_without_asking_anybody(context: Any, name: str) -> None:
    agency = {"@type": "https://schema.org/GovernmentOrganization", "dct:identifier": "office"}
    file = {
        "@context": context,
        "@type": "https://schema.org/GovernmentService",
        "dct:identifier": "s",
        "https://schema.org/provider": agency | {name: "Office"},
        name: "A service",
    }
    mapped, _ = read(file)
    assert row(mapped, "services", "office", "s")["name"] == "A service"


OURS = "https://contexts.example/ours.jsonld"


@pytest.mark.parametrize(
    "context",
    [
        OURS,
        "file:///etc/passwd",
        ["https://schema.org", OURS],
        {"@import": OURS},
        {"@context": OURS},
        {"logo": {"@id": "schema:logo", "@context": OURS}},
        {"GovernmentService": {"@id": "schema:GovernmentService", "@context": [{"@import": OURS}]}},
    ],
)
def test_no_context_is_fetched(monkeypatch: pytest.MonkeyPatch, context: Any) -> None:
    fetched: list[Any] = []
    monkeypatch.setattr(rdflib_context, "source_to_json", fetched.append)
    mapped, report = read(service(**{"@context": context}, logo={"url": "x"}))
    assert row(mapped, "services", "office", "s")["name"] == "A service"
    assert any("an unknown context, which is never fetched" in note for note in notes(report))
    assert fetched == []


HIDDEN: dict[str, Any] = {"@context": OURS, "name": "x"}


@pytest.mark.parametrize(
    "file",
    [
        {"@value": "", **HIDDEN},
        {"@graph": [{"@value": None, **HIDDEN}, service()]},
        service(**{"@type": ["GovernmentService", HIDDEN]}),
        service(**{"@id": HIDDEN}),
        service(**{"@reverse": {"isRelatedTo": HIDDEN}}),
        service(**{"@included": [HIDDEN]}),
        service(description={"@value": HIDDEN}, audience={"@list": [HIDDEN]}),
        service(**{"@context": {"logo": {"@id": HIDDEN, "@type": HIDDEN}}}),
        service(**{"@context": {"logo": [OURS], "@vocab": HIDDEN, "@base": OURS}}),
    ],
)
def test_no_context_is_fetched_wherever_it_hides(
    monkeypatch: pytest.MonkeyPatch, file: dict[str, Any]
) -> None:
    fetched: list[Any] = []
    monkeypatch.setattr(rdflib_context, "source_to_json", fetched.append)
    with suppress(StandardError):
        read(file)
    assert fetched == []


def test_a_language_of_the_context_is_that_of_the_originals() -> None:
    name = ["Un service", {"@language": "en", "@value": "A service"}]
    context = ["https://schema.org", {"@language": "fr"}]
    mapped, _ = read(service(**{"@context": context, "name": name}))
    assert row(mapped, "services", "office", "s")["name"] == "Un service"
    assert row(mapped, "translations", "en", "office", "", "s", "")["name"] == "A service"


def test_a_text_only_in_another_language_is_no_original() -> None:
    about = {"@language": "fr", "@value": "En français"}
    name = ["A service", {"@language": "fr", "@value": "Un service"}]
    mapped, _ = read(service(name=name, description=about))
    assert "overview" not in row(mapped, "services", "office", "s")
    assert row(mapped, "translations", "fr", "office", "", "s", "")["overview"] == "En français"


def test_a_file_in_one_language_has_no_translations() -> None:
    texts = {"name": {"fr": "Un service"}, "description": {"fr": "En français"}}
    mapped, _ = read(service(**texts, provider={**OFFICE, "name": {"fr": "Bureau"}}))
    assert row(mapped, "services", "office", "s")["overview"] == "En français"
    assert "translations" not in mapped.rows


def test_it_leaves_out_a_language_without_a_code() -> None:
    name = ["A service", {"@language": "x-klingon", "@value": "qa"}]
    mapped, report = read(service(name=name))
    assert "translations" not in mapped.rows
    assert any("no code of ISO 639" in note for note in notes(report))


def test_it_makes_an_id_of_the_end_of_an_address_and_tells_two_apart() -> None:
    nodes = [
        service(identifier=f"https://x.example/{part}/renew", name=part) for part in ("a", "b")
    ]
    mapped, _ = read(nodes)
    again, _ = read(nodes[::-1])
    keys = {key for _, key in mapped.rows["services"]}
    assert len(keys) == 2
    assert all(key.startswith("renew-") for key in keys)
    assert keys == {key for _, key in again.rows["services"]}
    alone = [key for node in nodes for _, key in read(node)[0].rows["services"]]
    assert keys == set(alone)


def test_the_address_decides_over_the_identifier() -> None:
    nodes = [service(**{"@id": f"https://{host}.example/"}) for host in ("a", "b")]
    keys = [key for node in nodes for _, key in read(node)[0].rows["services"]]
    assert len(set(keys)) == 2
    assert set(keys) == {key for _, key in read(nodes)[0].rows["services"]}
    without = [node | {"identifier": None} for node in nodes]
    assert keys == [key for node in without for _, key in read(node)[0].rows["services"]]


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/services.jsonld",
        "https://a.example/services.jsonld#other",
        "https://a.example/services/s",
        "https://a.example/catalogue/office/s.jsonld",
    ],
)
def test_only_an_address_of_our_form_leaves_an_identifier_as_it_is(address: str) -> None:
    ((_, key),) = read(service(**{"@id": address}))[0].rows["services"]
    assert key != "s"


def test_an_address_that_is_relative_is_no_identifier() -> None:
    node = service(**{"@id": "#service", "identifier": None, "provider": {**OFFICE, "@id": "#o"}})
    assert list(read(node)[0].rows["services"]) == [("office", "A service")]


@pytest.mark.parametrize(
    "file",
    [
        {"@context": "http://www.schema.org", "@type": "GovernmentService", "name": "S"},
        {"@context": "https://schema.org", "type": "GovernmentService", "name": "S"},
        {"@type": ["http://www.schema.org/GovernmentService"], "http://schema.org/name": "S"},
        {
            "@context": ["https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld"],
            "type": "PublicService",
            "name": {"type": "LanguageProperty", "languageMap": {"en": "S", "fr": "T"}},
            "description": {"type": "Property", "value": "About it"},
        },
    ],
)
def test_it_reads_the_forms_that_others_write(file: dict[str, Any]) -> None:
    provider = {"@id": "https://x.example/", "@type": "Organization", "name": "X"}
    mapped, _ = read(file | {"@id": "urn:x:1", "schema:provider": provider})
    ((values),) = mapped.rows["services"].values()
    assert (values["key"], values["name"]) == ("urn:x:1", "S")


def test_a_context_may_mean_something_else_by_id() -> None:
    context = ["https://schema.org", {"id": "schema:identifier", "type": "schema:serviceType"}]
    node = service(identifier=None) | {"id": "s", "type": "Travel", "@context": context}
    mapped, _ = read(node)
    assert row(mapped, "services", "office", "s")["categories"] == ["Travel"]


def test_it_says_which_contexts_it_could_not_read() -> None:
    context = ["https://catalogue.example/context.jsonld"]
    file = {"@context": context, "@type": "EventStream", "naam": {"nl": "Vergunning"}}
    result = problems(file)
    assert any("(types in it: EventStream)" in problem for problem in result)
    assert any(f"the context {context[0]} could not be read" in problem for problem in result)
    mapped, report = read(service(**{"@context": context}))
    assert mapped.rows["services"]
    assert any(context[0] in note for note in notes(report))


@pytest.mark.parametrize(
    ("opens", "closes", "hours"),
    [
        ("9:00 AM", "5:30 pm", "09:00 to 17:30"),
        ("2026-01-01T09:00:00Z", "2026-01-01T17:00:00", "09:00 to 17:00"),
        ("09:00:00", "17:00+01:00", "09:00 to 17:00"),
        ("noon", "by appointment", "noon to by appointment"),
    ],
)
def test_it_loses_no_time_of_day(opens: str, closes: str, hours: str) -> None:
    when = {"dayOfWeek": "https://schema.org/Monday", "opens": opens, "closes": closes}
    mapped, _ = read(service(hoursAvailable=when))
    assert row(mapped, "services", "office", "s")["contact"] == f"Hours: Monday: {hours}"


def test_the_contact_of_the_provider_stands_in() -> None:
    office = {**OFFICE, "telephone": "+999 1", "address": {"streetAddress": "1 Road"}}
    mapped, _ = read(service(provider=office))
    assert row(mapped, "services", "office", "s")["contact"] == "1 Road\nPhone: +999 1"
    mapped, report = read(service(provider=office, telephone="+999 2"))
    assert row(mapped, "services", "office", "s")["contact"] == "Phone: +999 2"
    assert any("/provider/telephone" in note for note in notes(report))


def test_a_name_stands_for_a_missing_identifier_and_that_is_told() -> None:
    mapped, report = read(service(identifier=None))
    assert row(mapped, "services", "office", "A service")
    assert any("has no identifier: its name stands for one" in note for note in notes(report))


def test_it_takes_one_service_twice_for_one() -> None:
    mapped, report = read([service(), service(description="More"), service(name="Else")])
    assert row(mapped, "services", "office", "s")["overview"] == "More"
    assert row(mapped, "services", "office", "s")["name"] == "A service"
    assert any("the first one is used" in note for note in notes(report))


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ({"@type": "Event", "name": "x"}, "the file: has no GovernmentService"),
        ({"@graph": [7]}, "/@graph/0: is no JSON object"),
        (service(provider=None), "the file: names no agency"),
        (service(name=None), "the file: has no name"),
        (service(name=None, identifier=None), "the file: the service has no identifier"),
        ({"@context": 7, "@type": "GovernmentService"}, "/@context: is no context"),
        (service(**{"@reverse": 7}), "the file: is no JSON-LD that can be read"),
        (service(**{"@context": {"a": "b:x", "b": "a:x"}}), "the file: is no JSON-LD"),
    ],
)
def test_it_says_why_a_file_cannot_be_used(file: Any, why: str) -> None:
    assert any(problem.startswith(why) for problem in problems(file))


def test_what_it_reads_may_lead_round_in_circles() -> None:
    office = {**OFFICE, "@id": "ex:o", "description": {"@id": "ex:o"}, "url": {"@id": "ex:s"}}
    file = service(**{"@id": "ex:s", "provider": office, "url": {"@id": "ex:o"}})
    mapped, _ = read(file | {"subjectOf": {"@id": "ex:s"}, "category": {"@id": "ex:o"}})
    assert row(mapped, "services", "ex:o", "ex:s")["name"] == "A service"
