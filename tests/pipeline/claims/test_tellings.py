"""How one thing is told in several ways, and what only looks like one of them."""

from __future__ import annotations

import pytest

from ieim.pipeline.claims import of_service, unsupported
from ieim.pipeline.knowledge import Agency, Service

OFFICE = Agency("homes", "Homes Office", "https://homes.example", "Homes and repairs.")
REPAIR = Service(
    agency="homes",
    key="repair",
    name="Report missing repairs",
    overview=(
        "If nothing is done after you asked in writing, we can inspect the home. "
        "If you cannot pay the rent in one go, tell us before the last day for payment. "
        "You can stay while we decide, but ask before the contract ends. "
        "Ten weeks are yours, and the rest you divide as you like. "
        "The help is paid in ten parts. Some offices have any form. "
        "You must show your contract within 14 days. Nobody needs a lawyer."
    ),
    applicability_summary=(
        "For tenants who told the landlord 14 days ago. For full-time students. "
        "For a relative, a person of the same home or a funeral director. "
        "One parent can sign if the parents are married."
    ),
    fees="Free. The help is MRK 95.00 a month. It costs MRK 4.00 of each rent.",
    processing_time="1 working day with our model contract, otherwise 8 working days",
    how_to_apply=(
        "When the letter is there, open the door within 90 days.",
        "Call the urgent line before you come.",
        "Go to the passport counter in Ansel or the nearest embassy.",
    ),
    contact="Urgent line, +999 20 555 0132, home@homes.example",
)
NIGHT = Service(
    "homes",
    "night",
    "Find a bed",
    how_to_apply=("Call the night line before you come.",),
    contact="Day line, +999 20 555 0001. Night line, +999 20 555 0002.",
)


def passes(reply: str, question: str = "What can I do?", service: Service = REPAIR) -> bool:
    return not unsupported(reply, [of_service(service, OFFICE)], question=question, language="en")


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        # A no of the condition is not one of what follows it.
        ("Tell us before the last day for payment.", "I cannot pay my rent in one go"),
        ("No. You can stay while we decide.", "Do I have to leave?"),
        ("Once the letter is there, open the door within 90 days.", "And then?"),
        ("You must have told the landlord 14 days ago.", "Can I report it?"),
        ("You must ask before the contract ends.", "Until when?"),
        ("Call the urgent line on +999 20 555 0132 before you come.", "Where do I call?"),
        ("Oh dear! You must have told the landlord 14 days ago.", "It is cold"),
        ("You have 14 days to show your contract.", "How long do I have?"),
        ("One parent can sign.", "We are married. Do both of us sign?"),
    ],
)
def test_it_knows_other_ways_to_say_it(reply: str, question: str) -> None:
    assert passes(reply, question)


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("You must stay while we decide.", "May I stay?"),
        ("You divide all of them as you like.", "Who gets the weeks?"),
        ("We can inspect the home if nothing is done after you asked, by phone.", "May I call?"),
        ("Go to any passport counter or the nearest embassy.", "Where?"),
        ("With your own contract it takes 1 working day.", "I wrote the contract myself"),
        ("It is for full-time and part-time students.", "I study part-time"),
        ("It is for a relative, a neighbour or a funeral director.", "My neighbour died"),
        ("Call the urgent line on +999 20 555 0133 before you come.", "Where do I call?"),
        ("One parent can sign.", "We are not married. Do both of us sign?"),
        ("You need a lawyer to open a case.", "Do I need a lawyer?"),
        ("It costs MRK 4.00 of each rent and contract.", "What does it cost?"),
    ],
)
def test_it_lets_no_more_pass_for_that(reply: str, question: str) -> None:
    assert not passes(reply, question)


def test_of_two_numbers_the_one_of_the_line_has_to_be_told() -> None:
    assert not passes("Call the night line on +999 20 555 0001 before you come.", service=NIGHT)


def test_the_number_of_a_form_is_not_an_answer() -> None:
    form = Service("homes", "form", "Fill in a form", how_to_apply=("Fill in form No. 12.",))
    assert passes("Fill in form No. 12.", service=form)
