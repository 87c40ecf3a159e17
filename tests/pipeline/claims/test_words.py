"""What the words of a reply do to each other, and to those of its source (DESIGN decision 22)."""

from __future__ import annotations

import pytest

from ieim.pipeline.claims import Entry, of_text, unsupported

VISA = of_text(
    "You can extend your visa once by up to 30 days. You may not work while you wait. Call us on "
    "+999 20 555 0110 after you fill in the form."
)
TEXTS = (
    "Letters take 5 working days, parcels 15. You may get help with the rent. "
    "Pay the fee before you collect the card. Interest stops in cases of illness. "
    "Bring your bank card, if you have one. "
    "Bring your bank card, if you have one. One parent can come alone if the parents are married."
)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("How lovely! I wish you good luck. Pay the fee before you collect the card.", True),
        ("I hope you fail. Pay the fee before you collect the card.", False),
        ("Parcels take 15 working days.", True),  # the unit of the number before
        ("Parcels take 15 days.", False),
        ("You must pay the fee before you collect the card.", True),  # what one is told to do
        ("Collect the card before you pay the fee.", False),
        ("You can get help with the rent.", True),
        ("You get help with the rent.", False),
        ("In case of illness, interest stops.", True),
        ("Interest stops.", False),
        ("One parent can come alone if the parents are not married.", False),
        ("Bring your bank card, if you have one.", True),
        ("We need your bank card.", False),
        ("Give us your bank card, if you have one.", False),
        ("Everybody may get help with the rent.", False),
    ],
)
def test_it_reads_what_words_do_to_each_other(reply: str, holds: bool) -> None:
    assert (unsupported(reply, [of_text(TEXTS)], question="", language="en") == []) is holds


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("No, you may not work while you wait.", True),
        ("No, you may work while you wait.", False),
        ("Call us on +999 20 555 0110 after you fill in the form.", True),
        ("Fill in the form after you call us on +999 20 555 0110.", False),
        ("Your mother's visa can be extended once by up to 30 days.", True),
        ("Your mother's neighbour's visa can be extended once by up to 30 days.", False),
    ],
)
def test_it_reads_answers_about_the_citizen_s_family(reply: str, holds: bool) -> None:
    assert (
        unsupported(reply, [VISA], question="Can my mother work?", language="en") == []
    ) is holds


def test_a_sentence_too_long_to_be_judged_is_no_source() -> None:
    said = "Pay the fee" + ", and pay the fee" * 200 + "."
    assert unsupported("Pay the fee.", [of_text(said)], question="") != []
    assert unsupported("Pay the fee.", [of_text(said + " Pay the fee.")], question="") == []


def test_another_sentence_with_fewer_of_its_words_tells_no_opposite() -> None:
    source = Entry(
        (("overview", "You do not lose your cover."), ("about", "For everybody with cover.")),
        ("Replace a lost card",),
    )
    assert unsupported("You do not lose your cover.", [source], question="I lost it") == []
    assert unsupported("You do lose your cover.", [source], question="Did I lose it?") != []
