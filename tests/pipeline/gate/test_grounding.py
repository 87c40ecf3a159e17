"""A reply says and names only what its cited sources cover."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.facts import facts
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Agency, Release, Service

VISAS = Agency(
    "visas", "Visa Office", "https://visas.example", "Visas. Write to ask@visas.example."
)
CITY = Agency("city", "City Hall", "https://city.example")
EXTEND = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    path="https://visas.example/extend",
    overview="Stay longer. Until 31 March 2027 you may also [apply by post](/post/extend/).",
    requirements=("Proof of at least MRK 70.00 for each day",),
    fees="MRK 45.00 for each person, 15% less for groups",
    processing_time="5 working days",
    contact="Visa desk, +999 20 555 0110, at night 119, stay@visas.example",
    url="https://www.visas.example/extend/",
)
PARKING = Service("city", "parking", "Pay for parking", fees="€12.50", contact="020 7946 0000")
PERMIT = Service("city", "permit", "Pay for parking", "https://city.example/permit", fees="€90")
RELEASE = Release(
    number=1,
    sha256="",
    agencies={agency.id: agency for agency in (VISAS, CITY)},
    categories={},
    services={(s.agency, s.key): s for s in (EXTEND, PARKING, PERMIT)},
)


def codes(reply: str, *cited: Service) -> list[Code]:
    findings = grounding.check(reply, cited, RELEASE)
    assert all(finding.path == "/assistantReply" for finding in findings)
    return [finding.code for finding in findings]


@pytest.mark.parametrize(
    "reply",
    [
        "Extend a visa at the Visa Office for MRK 45.",
        "It costs 45.00 MRK. Bring 2 documents and wait 5 working days.",
        "Groups pay 15 per cent less. Show MRK 70 a day.",
        "Call 020 555 0110 or +999 20 555 0110, or dial 119.",
        "Write to Stay@visas.example or ask@visas.example.",
        "See visas.example/extend or https://www.visas.example.",
        "You may apply by post until March 2027: [post](/post/extend).",
    ],
)
def test_it_lets_pass_what_the_cited_service_or_its_agency_gives(reply: str) -> None:
    assert codes(reply, EXTEND) == []


def test_structured_values_are_sources_too() -> None:
    closed = replace(CITY, hours=("Mo-Fr 09:00-16:00", "2026-12-24 closed"))
    free = replace(PARKING, fees="", amounts=("17.50 TRW",), places=("Depot, Quay 4",))
    release = replace(
        RELEASE,
        agencies={**RELEASE.agencies, "city": closed},
        services={**RELEASE.services, ("city", "parking"): free},
    )
    reply = "It costs TRW {}. Closed on 24 December 2026."
    assert grounding.check(reply.format("17.50"), [free], release) == []
    findings = grounding.check(reply.format("18.50"), [free], release)
    assert [finding.code for finding in findings] == [Code.REPLY_UNGROUNDED]


@pytest.mark.parametrize(
    "reply",
    [
        "It costs MRK 46.",
        "It costs 46 MRK.",
        "It costs EUR 45.",
        "Groups pay 16% less.",
        "Call +999 20 555 0111.",
        "Call 911.",
        "Call 112.",
        "Write to stay@visa.example.",
        "See https://visas.example/renew.",
        "See visas.example.org.",
        "See [the page](javascript:alert(1)).",
        "You may apply by post until 30 March 2027.",
        "It costs MRK 4\u200b6.",
        "It costs €12.50.",
        "Ask on 020 7946 0000.",
    ],
)
def test_it_stops_every_fact_that_no_cited_source_gives(reply: str) -> None:
    assert codes(reply, EXTEND) == [Code.REPLY_UNGROUNDED]


def test_it_takes_facts_from_every_cited_source() -> None:
    reply = "Extend a visa for MRK 45 and Pay for parking for €12.50; call 020 7946 0000."
    assert codes(reply, EXTEND, PARKING) == []
    assert codes(reply, EXTEND, PERMIT) == [Code.REPLY_UNGROUNDED] * 2


def test_it_compares_an_amount_without_a_currency() -> None:
    assert codes("The fee is 45.00 for each person.", EXTEND) == []
    assert codes("The fee is 46.00 for each person.", EXTEND) == [Code.REPLY_UNGROUNDED]
    plain = Service("city", "plain", "Plain fee", fees="45 for adults, 1,250.00 for groups")
    assert codes("It costs 45, for groups the fee is 1250.", plain) == []
    assert codes("It costs 46.", plain) == [Code.REPLY_UNGROUNDED]
    assert codes("It costs 250.", plain) == [Code.REPLY_UNGROUNDED]
    assert codes("It costs €45.", plain) == [Code.REPLY_UNGROUNDED]


def test_it_says_where_the_text_is_and_shortens_it() -> None:
    reply = "See https://evil.example/" + "a" * 200
    (finding,) = grounding.check(reply, [EXTEND], RELEASE)
    assert "a web address" in finding.message
    assert "(characters 4 to 225)" in finding.message
    assert "'https://evil.example/aaa" in finding.message
    assert len(finding.message) < 200


@pytest.mark.parametrize(
    "reply",
    [
        "It costs MRK **46**.",
        "It costs **MRK 4**6.",
        "It costs MRK *46.",
        "It costs MRK _46_.",
        "It costs MRK 45\n250.",
        "It costs [MRK](/post/extend) 46.",
        "It costs `MRK` ~~46~~.",
    ],
)
def test_it_reads_a_reply_as_it_is_shown_too(reply: str) -> None:
    assert codes(reply, EXTEND) == [Code.REPLY_UNGROUNDED]


def test_it_stops_a_name_that_markdown_divides() -> None:
    (finding,) = grounding.check("Ask the **City** Hall.", [EXTEND], RELEASE)
    assert finding.code is Code.SOURCES_MISSING
    assert "'City Hall' (characters 8 to 17 as shown)" in finding.message


def test_it_tells_of_a_fact_in_markdown_once() -> None:
    assert codes("# Fees\n\nIt costs **MRK 46**.", EXTEND) == [Code.REPLY_UNGROUNDED]


def test_it_stops_a_named_agency_or_service_that_is_not_cited() -> None:
    assert codes("Ask the City Hall too. The City Hall helps.", EXTEND) == [Code.SOURCES_MISSING]
    assert codes("Extend a visa, then pay for parking.", EXTEND) == [Code.SOURCES_MISSING]
    (finding,) = grounding.check("Ask the City Hall.", [EXTEND], RELEASE)
    assert "the agency 'City Hall' (characters 8 to 17)" in finding.message


def test_it_takes_any_cited_bearer_of_a_shared_name() -> None:
    assert codes("Pay for parking.", PARKING) == []
    assert codes("Pay for parking.", PERMIT) == []


def test_it_stops_a_reply_without_a_source() -> None:
    (finding,) = grounding.check("Somebody will help you.", [], RELEASE)
    assert (finding.code, finding.path) == (Code.SOURCES_MISSING, "/sourcesUsed")


@pytest.mark.parametrize("reply", ["", " \n", "—!? \u200b", "🙂"])
def test_it_stops_a_blank_reply(reply: str) -> None:
    assert codes(reply, EXTEND) == [Code.REPLY_EMPTY]


def test_it_reads_urls_inside_a_path_that_is_no_url() -> None:
    odd = Service("city", "odd", "Odd path", path="The parking page - city.example/park")
    assert codes("See city.example/park.", odd) == []


_DIGIT = st.sampled_from("0123456789")


def _digits(count: int) -> st.SearchStrategy[str]:
    return st.text(alphabet="0123456789", min_size=count, max_size=count)


_STATED = st.one_of(
    st.builds("MRK {}.{}".format, st.integers(1, 9999), _digits(2)),
    st.builds("€{:,}".format, st.integers(1, 999_999)),
    st.builds("{} EUR".format, st.integers(1, 9999)),
    st.builds("{}%".format, st.integers(1, 99)),
    st.dates().map(str),
    st.dates().map("{0.day} {0:%B} {0.year:04}".format),
    st.dates().map("{0:%d/%m}/{0.year:04}".format),
    st.builds("+4420{}{}".format, _digits(4), _digits(4)),
    st.builds("020 {} {}".format, _digits(4), _digits(4)),
    st.builds("https://a{}.example/b/{}".format, _digits(2), _digits(3)),
    st.builds("a{}@b.example".format, _digits(2)),
)


@given(st.lists(_STATED, min_size=1, max_size=5))
def test_it_lets_pass_any_reply_whose_facts_its_source_gives(stated: list[str]) -> None:
    service = Service("city", "any", "Anything", overview="; ".join(stated), fees="MRK 1.00")
    release = Release(1, "", {"city": CITY}, {}, {("city", "any"): service})
    reply = "It says " + " and also ".join(stated) + " there."
    assert len(facts(reply, currencies={"MRK"})) == len(stated)
    assert grounding.check(reply, [service], release) == []


@given(_STATED, st.data())
def test_it_stops_any_reply_with_one_digit_changed(stated: str, data: st.DataObject) -> None:
    places = [at for at, character in enumerate(stated) if character.isdigit()]
    at = data.draw(st.sampled_from(places))
    changed = stated[:at] + data.draw(_DIGIT.filter(lambda d: d != stated[at])) + stated[at + 1 :]
    # A fee that no stated amount comes to by one digit: it would be a source of its own.
    service = Service("city", "any", "Anything", overview=stated, fees="MRK 654321.00")
    release = Release(1, "", {"city": CITY}, {}, {("city", "any"): service})
    findings = grounding.check(f"It says {changed} there.", [service], release)
    assert Code.REPLY_UNGROUNDED in [finding.code for finding in findings]
