"""A reply opens with what was asked, and has a card for each service of several agencies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.reply.cards import Section, card
from ieim.pipeline.reply.reply import Reply, render_answer, render_service, render_several

OFFICE = Agency("visas", "Visa Office", "https://visas.example", "It looks after visas.")
PARKS = Agency("parks", "Parks Office")
EXTEND = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    path="https://visas.example/extend",
    overview="Stay longer. You may extend once.",
    requirements=("A passport", "A photo"),
    fees="MRK 45.00",
    processing_time="Two weeks.",
    how_to_apply=("Fill in the form.", "Pay."),
    contact="Desk 4",
)
PAVILION = Service("parks", "pavilion", "Book a pavilion", overview="Rent it for a day. Or two.")
RELEASE = Release(
    1,
    "",
    {"visas": OFFICE, "parks": PARKS},
    {},
    {("visas", "extend"): EXTEND, ("parks", "pavilion"): PAVILION},
)
KEYS = ("service_name", "service_overview", "service_requirements", "service_fees")


def render(rules: str, *more: str, service: Service = EXTEND, **given: Any) -> Reply:
    """Render a service with all of ``KEYS`` and ``more`` as placeholders."""
    return render_service(
        dict.fromkeys([*KEYS, *more]),
        service=service,
        agency=OFFICE,
        category_value="Visas",
        entities={"DATE": "3 May"},
        rules=rules,
        **given,
    )


def fields(sections: tuple[Section, ...], *, folded: bool) -> list[str]:
    return [section.field for section in sections if section.folded is folded]


def test_it_opens_with_the_tokens_of_the_rules_in_their_order_and_folds_the_rest() -> None:
    reply = render(
        "First {service_requirements}, then {service_fees}, then {service_requirements}."
    )
    assert fields(reply.sections, folded=False) == ["requirements", "fees"]
    assert fields(reply.sections, folded=True) == ["overview"]


def test_what_was_asked_leads_and_not_what_to_do_first() -> None:
    assert render("Open with {service_fees}.").lead == ""
    assert render("Open with {service_name}, {service_overview}.").lead == "Fill in the form."
    # There is no such fact: what to do first leads as ever.
    reply = render("Open with {service_fees}.", service=replace(EXTEND, fees=" "))
    assert reply.lead == "Fill in the form."
    assert fields(reply.sections, folded=True) == ["overview", "requirements"]


def test_rules_that_say_nothing_of_an_order_fold_nothing() -> None:
    reply = render("In plain words.")
    assert fields(reply.sections, folded=False) == ["overview", "requirements", "fees"]
    assert "plain words" not in json.dumps(reply.as_dict())  # citizens never see the rules


@pytest.mark.parametrize(
    ("key", "section"),
    [
        ("agency_name", Section("agency_name", ("Visa Office",), True)),
        ("agency_description", Section("agency_description", ("It looks after visas.",), True)),
        ("agency_path", Section("agency_path", ("https://visas.example",), True)),
        ("category_value", Section("category_value", ("Visas",), True)),
        ("entity_DATE", Section("entity_DATE", ("3 May",), True)),
    ],
)
def test_what_stands_around_the_service_is_filled_and_shown(key: str, section: Section) -> None:
    assert section in render("{service_name}", key).sections
    opened = render(f"{{{key}}}", key).sections[0]
    assert opened == replace(section, folded=False)


def test_each_cited_service_has_a_card_in_the_order_of_the_answer() -> None:
    results = render_several("Do this.", [PAVILION, EXTEND, PAVILION], RELEASE)
    assert results.paragraphs == ("Do this.",)
    assert [result.title for result in results.cards] == ["Book a pavilion", "Extend a visa"]
    assert [result.source for result in results.cards] == list(results.sources)
    first, second = results.cards
    assert (first.lead, second.lead) == ("Rent it for a day.", "Fill in the form.")
    assert fields(second.sections, folded=False) == ["requirements", "contact"]
    assert fields(second.sections, folded=True) == [
        *("overview", "fees", "processing_time", "how_to_apply")
    ]


def test_what_was_asked_opens_every_card() -> None:
    opened = card(EXTEND, OFFICE, rules="{service_name} {service_fees}").sections
    assert fields(opened, folded=False) == ["fees", "requirements", "contact"]
    # By when and what if is told by the description alone.
    terms = card(EXTEND, OFFICE, rules="{service_overview}").sections
    assert fields(terms, folded=False) == ["overview", "requirements", "contact"]
    # Rules that open with what the service is ask for nothing in particular.
    usual = card(EXTEND, OFFICE, rules="{service_overview} {service_fees}").sections
    assert fields(usual, folded=False) == ["requirements", "contact"]


def test_a_persons_own_text_has_its_sources_and_no_cards() -> None:
    assert render_answer("Come to us.", [EXTEND], RELEASE).cards == ()


def test_cards_and_what_is_not_covered_are_stored_and_read_again() -> None:
    result = render_several("Do this.", [PAVILION, EXTEND], RELEASE)
    result = replace(
        result, uncovered=((3, 9),), cards=(replace(result.cards[0], original=("title",)),)
    )
    assert Reply.from_dict(json.loads(json.dumps(result.as_dict()))) == result


def test_a_reply_that_was_stored_before_there_were_cards_is_read_and_is_the_same() -> None:
    older = {
        "kind": "answer",
        "title": "",
        "lead": "",
        "paragraphs": ["Do this."],
        "sections": [{"field": "fees", "items": ["MRK 45.00"]}],
        "sources": [],
    }
    result = Reply.from_dict(older)
    assert (result.cards, result.uncovered, result.sections[0].folded) == ((), (), False)
    assert result.as_dict() == older


def test_the_text_of_a_reply_has_its_cards() -> None:
    text = render_several("Do this.", [PAVILION, EXTEND], RELEASE).as_text()
    assert text.startswith("Do this.\n\nBook a pavilion (Parks Office)\n\nRent it for a day.")
    assert "Extend a visa (Visa Office)" in text
    assert "Fees: MRK 45.00" in text
