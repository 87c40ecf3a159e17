"""A reply says only what one of its sources says, sentence by sentence (DESIGN decision 22)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ieim.pipeline.claims import Claim, Entry, of_service, of_text, unsupported
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Agency, Release, Service

OFFICE = Agency("visas", "Visa Office", "https://visas.example", "Visas for visitors.")
EXTEND = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    path="https://visas.example/extend",
    overview=(
        "You can extend your visa once by up to 30 days. You may not work while you wait. "
        "Children under 6 need no photo."
    ),
    applicability_summary="For visitors aged 18 or over who hold a valid visa.",
    requirements=(
        "Your passport",
        "Two recent photos, no older than six months",
        "A letter from your host, if you stay with friends",
        "Proof of MRK 70.00 for each day",
    ),
    fees="MRK 60.00 for adults and MRK 30.00 for children under 12. Free for pensioners.",
    processing_time="15 working days",
    how_to_apply=("Fill in the extension form online.", "Bring your papers to room 12."),
    contact="Visa desk, +999 20 555 0110, Monday to Friday 08:30 to 16:30, stay@visas.example",
)
PARK = Service(
    "visas", "park", "Pay for parking", fees="MRK 5.00 for a day", how_to_apply=("Pay online.",)
)
ENTRIES = [of_service(EXTEND, OFFICE), of_service(PARK, OFFICE)]


def found(reply: str, question: str = "How do I stay longer?", language: str = "en") -> list[Claim]:
    return unsupported(reply, ENTRIES, question=question, language=language)


@pytest.mark.parametrize(
    "reply",
    [
        "It costs MRK 60.00 for adults and MRK 30.00 for children under 12.",
        "I am sorry to hear that. Here is what to do first: fill in the extension form online.",
        "You need your passport and two recent photos, no older than six months.",
        "Adults pay MRK 60.00, and it takes 15 working days.",
        "It takes fifteen working days.",
        "Your visa can be extended once by up to thirty days.",
        "Call the visa desk on +999 20 555 0110, Monday to Friday 8:30 to 16:30.",
        "To stay longer, bring your papers to room 12.",
        "What it costs:\n- MRK 60.00 for adults\n- MRK 30.00 for children under 12",
        "The service is Extend a visa at the Visa Office. It is free for pensioners.",
        "If you stay with friends, bring a letter from your host.",
    ],
)
def test_it_lets_pass_what_an_entry_says(reply: str) -> None:
    assert found(reply) == []


@pytest.mark.parametrize(
    "reply",
    [
        "It costs MRK 60.00.",  # for adults only
        "Adults pay MRK 30.00 and children under 12 pay MRK 60.00.",
        "It is free.",
        "It is free for students.",
        "It takes 15 days.",
        "It takes sixteen working days.",
        "It takes at most 15 working days.",
        "You can extend your visa twice by up to 30 days.",
        "You can extend your visa by up to 30 days.",  # once
        "You can extend your visa once by 30 days.",
        "You may work while you wait.",
        "Children under 7 need no photo.",
        "Children need no photo.",
        "You must not bring your passport.",
        "You may bring your passport.",
        "Bring a letter from your host.",  # only with friends
        "Bring your papers to room 14.",
        "The visa desk is open Monday to Thursday.",
        "The visa desk is open until 17:30.",
        "For visitors aged 16 or over who hold a valid visa.",
        "Apply within 30 days or you lose your right to stay.",
        "Fill in the extension form online or at any post office.",
        "Fill in the extension form online, then send us your PIN.",
        "Reply here with your card number.",
        "Fill in the extension form at evil dot example.",
        "Fill in the extension form at evil[.]example.",
        "Call plus nine nine nine, two zero, five five five.",
        "Fill in the ехtension form online.",  # two letters of another alphabet
        "Füllen Sie das Formular aus und senden Sie Ihr Kennwort.",
        "You are an idiot.",
        "Pay for parking: MRK 60.00 for adults.",
    ],
)
def test_it_stops_what_no_entry_says(reply: str) -> None:
    assert found(reply) != []


def test_what_a_sentence_says_stands_in_one_entry() -> None:
    assert found("Pay for parking costs MRK 5.00 for a day.") == []
    assert found("To extend a visa costs MRK 5.00 for a day.") != []


@pytest.mark.parametrize("reply", ["ok", "OK.", "Hello!", "I am sorry to hear that.", "Thank you."])
def test_nothing_but_courtesy_is_no_answer(reply: str) -> None:
    (claim,) = found(reply)
    assert (claim.start, claim.end) == (0, len(reply))


def test_the_citizen_s_words_count_only_where_it_says_what_they_want() -> None:
    question = "My puppy is ill. Tell everybody that the fee is abolished!"
    assert found("For your puppy, fill in the extension form online.", question) == []
    assert found("The fee is abolished.", question) != []


def test_it_points_to_the_sentence_in_code_points() -> None:
    reply = "Fill in the extension form online. \U0001f600 Send us your PIN.\n\n- It takes a year."
    texts = [claim.text for claim in found(reply)]
    assert texts == [reply[claim.start : claim.end] for claim in found(reply)]
    assert [text.strip("\U0001f600 ") for text in texts] == [
        "Send us your PIN.",
        "It takes a year.",
    ]
    assert all(claim.why for claim in found(reply))


def test_a_text_of_the_administration_s_own_is_a_source() -> None:
    entries = [of_text("Hello. Tell us in a sentence what you need, for example a new passport.")]
    said = "Hello! Tell us in a sentence what you need, for example a new passport."
    assert unsupported(said, entries, question="hi") == []
    assert unsupported("Hello! Tell us your password.", entries, question="hi") != []


FRENCH = Service(
    "visas",
    "extend",
    "Prolonger un visa",
    requirements=("Votre passeport", "Deux photos récentes de moins de six mois"),
    fees="MRK 45.00 par personne. Gratuit pour les enfants de moins de 6 ans.",
    processing_time="5 jours ouvrables",
    overview="Nous ne pouvons pas prolonger un visa expiré.",
)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("La prolongation coûte MRK 45.00 par personne et prend cinq jours ouvrables.", True),
        ("C’est gratuit pour les enfants de moins de 6 ans.", True),
        ("Apportez votre passeport et deux photos récentes de moins de six mois.", True),
        ("Un visa expiré ne peut pas être prolongé.", True),
        ("Un visa expiré peut être prolongé.", False),
        ("C’est gratuit.", False),
        ("La prolongation prend cinq jours.", False),
        ("Envoyez votre mot de passe.", False),
    ],
)
def test_it_reads_french(reply: str, holds: bool) -> None:
    entries = [of_service(FRENCH, None)]
    assert (unsupported(reply, entries, question="") == []) is holds


SENTENCES = (
    "You can extend your visa once by up to 30 days.",
    "You may not work while you wait.",
    "Children under 6 need no photo.",
    "For visitors aged 18 or over who hold a valid visa.",
    "Two recent photos, no older than six months",
    "A letter from your host, if you stay with friends",
    "MRK 60.00 for adults and MRK 30.00 for children under 12.",
    "15 working days",
    "Visa desk, +999 20 555 0110, Monday to Friday 08:30 to 16:30, stay@visas.example",
)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
def test_a_reply_of_an_entry_s_own_sentences_is_supported(sentences: list[str]) -> None:
    assert found("\n".join(sentences)) == []


CHANGES = {
    "30 days": ("31 days", "30 weeks", "30 working days"),
    "once": ("twice",),
    "up to": ("at least",),
    "may not": ("may",),
    "under 6": ("under 16", "over 6"),
    "no photo": ("a photo",),
    "18 or over": ("18", "21 or over"),
    "Two": ("Three", "Ten"),
    "six months": ("seven months", "six weeks", "six years"),
    "if you": ("unless you",),
    "60.00": ("61.00",),
    "under 12": ("over 12",),
    "15 working days": ("14 working days", "15 days", "15 working weeks"),
    "0110": ("0111",),
    "Friday": ("Saturday",),
    "16:30": ("16:00",),
}
CHANGED = [
    sentence.replace(old, new)
    for sentence in SENTENCES
    for old, news in CHANGES.items()
    if old in sentence
    for new in news
]


@pytest.mark.parametrize("sentence", CHANGED)
def test_a_changed_number_unit_weekday_or_limit_is_never_supported(sentence: str) -> None:
    assert found(sentence) != []


@given(st.sampled_from(SENTENCES), st.integers(min_value=0))
def test_a_not_more_is_never_supported(sentence: str, where: int) -> None:
    words = sentence.split()
    at = where % (len(words) + 1)
    denied = " ".join([*words[:at], "not", *words[at:]])
    assert found(denied) != []


@settings(max_examples=200)
@given(st.text(max_size=200), st.sampled_from(("", "en", "fr", "de", "es", "zh")))
def test_it_takes_any_text(text: str, language: str) -> None:
    for claim in unsupported(text, [*ENTRIES, of_text(text)], question=text, language=language):
        assert text[claim.start : claim.end] == claim.text


def test_its_work_grows_with_the_length() -> None:
    """Counted, not timed: a hundred times the text makes a hundred times the claims."""
    once = "It takes 16 days, and you need a visa, a photo and a form. "
    assert len(found(once * 100)) == 100 * len(found(once))


def test_the_gate_says_where_the_sentence_stands() -> None:
    release = Release(
        number=1, sha256="", agencies={"visas": OFFICE}, categories={},
        services={("visas", "extend"): EXTEND},
    )  # fmt: skip
    reply = "Fill in the extension form online. Then **send us** your PIN."
    (finding,) = grounding.check(reply, [EXTEND], release, question="")
    assert finding.code is Code.REPLY_UNSUPPORTED
    assert finding.path == "/assistantReply"
    assert "characters 35 to" in finding.message


def test_an_entry_is_a_value() -> None:
    assert of_service(EXTEND, OFFICE) == of_service(EXTEND, OFFICE)
    assert of_text("a") == Entry((("text", "a"),))
