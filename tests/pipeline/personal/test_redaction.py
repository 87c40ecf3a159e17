"""Redaction: what is recognised, what is left, and that a kind never changes by accident."""

from __future__ import annotations

import pytest

from ieim.pipeline.personal.redaction import _stretches, prepare

FOUND = [
    # E-mail: tags, other scripts, no full stop of the sentence.
    ("Mail jo.o'neil+tax@mail.example.co.uk.", "Mail [EMAIL_1]."),
    ("Write to müller@bücher.example, please", "Write to [EMAIL_1], please"),
    ("用户@例子.广告 is mine", "[EMAIL_1] is mine"),
    ("<JO@EXAMPLE.ORG>", "<[EMAIL_1]>"),
    # Telephone: international, national with and without a word before, extensions.
    ("call +49 (0)170 123 45 67 now", "call [PHONE_1] now"),
    ("0049 170 1234567", "[PHONE_1]"),
    ("+999 20 555 0110", "[PHONE_1]"),
    ("Ring 0170 1234567 or (202) 555-0143 ext. 12!", "Ring [PHONE_1] or [PHONE_2]!"),
    ("my mobile is 2025550143", "my mobile is [PHONE_1]"),
    ("call 555-0123 after six", "call [PHONE_1] after six"),
    ("06 12 34 56 78", "[PHONE_1]"),
    ("Tel.0170-1234567", "Tel.[PHONE_1]"),
    ("电话13800138000", "电话[PHONE_1]"),
    ("١٢٣ هاتفي ٠١٧٠١٢٣٤٥٦٧", "١٢٣ هاتفي [PHONE_1]"),
    (
        "My case is open. My phone number is 2025550143",
        "My case is open. My phone number is [PHONE_1]",
    ),
    # IBAN: any case and spacing; a wrong one where the word says so.
    ("my iban de89370400440532013000 ok", "my iban [IBAN_1] ok"),
    ("GB82 WEST 1234 5698 7654 32 and I pay", "[IBAN_1] and I pay"),
    ("IBAN: DE89 3704 0044 0532 0130 01", "IBAN: [IBAN_1]"),
    # Cards.
    ("card 4111 1111 1111 1111 12/26", "card [CARD_1] 12/26"),
    ("5555-5555-5555-4444", "[CARD_1]"),
    ("378282246310005", "[CARD_1]"),
    # National numbers: by their check, by their groups, by the word before.
    ("my SSN is 536-90-4399", "my SSN is [NATIONAL_ID_1]"),
    ("ssn 536904399", "ssn [NATIONAL_ID_1]"),
    ("AB 12 34 56 C", "[NATIONAL_ID_1]"),
    ("National Insurance number QQ 12 34 56 C", "National Insurance number [NATIONAL_ID_1]"),
    ("NHS number: 943 476 5919", "NHS number: [NATIONAL_ID_1]"),
    ("Steuer-ID 86 095 742 719", "Steuer-ID [NATIONAL_ID_1]"),
    ("2 95 10 99 126 111 93", "[NATIONAL_ID_1]"),
    ("12345678Z, X1234567L", "[NATIONAL_ID_1], [NATIONAL_ID_2]"),
    ("RSSMRA85T10A562S", "[NATIONAL_ID_1]"),
    ("44051401359", "[NATIONAL_ID_1]"),
    ("BSN 111222333", "BSN [NATIONAL_ID_1]"),
    ("85.07.30-033.28", "[NATIONAL_ID_1]"),
    ("131052-308T", "[NATIONAL_ID_1]"),
    ("880320-0016", "[NATIONAL_ID_1]"),
    ("my SIN 046 454 286", "my SIN [NATIONAL_ID_1]"),
    ("TC Kimlik No: 17291716060", "TC Kimlik No: [NATIONAL_ID_1]"),
    ("passport number X1234567", "passport number [NATIONAL_ID_1]"),
    # Dates of birth, in words and figures of several languages.
    ("I was born on 3 May 1985 in Kyiv", "I was born on [DATE_OF_BIRTH_1] in Kyiv"),
    ("DOB: 1985-05-03", "DOB: [DATE_OF_BIRTH_1]"),
    ("date of birth March 3rd, 1985", "date of birth [DATE_OF_BIRTH_1]"),
    ("geboren am 3. März 1985", "geboren am [DATE_OF_BIRTH_1]"),
    ("née le 1er août 1970", "née le [DATE_OF_BIRTH_1]"),
    ("nacido el 3 de mayo de 1990", "nacido el [DATE_OF_BIRTH_1]"),
    ("ur. 12.03.1980", "ur. [DATE_OF_BIRTH_1]"),
    ("народився 12 березня 1980", "народився [DATE_OF_BIRTH_1]"),
    ("on 03/05/1985 my son was born", "on [DATE_OF_BIRTH_1] my son was born"),
    # Addresses.
    ("at 12 Main Street, Springfield, IL 62704 now", "at [ADDRESS_1] now"),
    ("221B Baker Street, London NW1 6XE", "[ADDRESS_1]"),
    ("1600 Pennsylvania Avenue NW, Washington, DC 20500", "[ADDRESS_1]"),
    ("I live at 12 orchard drive", "I live at [ADDRESS_1]"),
    ("in der Friedrichstraße 20, 10117 Berlin", "in der [ADDRESS_1]"),
    ("Lange Straße 5", "[ADDRESS_1]"),
    ("12 bis rue de la République, 75011 Paris", "[ADDRESS_1]"),
    ("Calle Mayor 12, 3º B, 28013 Madrid", "[ADDRESS_1]"),
    ("C/ de Alcalá, 45", "[ADDRESS_1]"),
    ("ul. Marszałkowska 12/4, 00-950 Warszawa", "[ADDRESS_1]"),
    ("P.O. Box 4567", "[ADDRESS_1]"),
]

LEFT = [
    "",
    "tax year 2024 2025",
    "between 2019 2020 2021 2022 2023 2024 2025",
    "in 2023-2024 and 2024/25",
    "I earn 100000 a year, 1250000 in ten",
    "The fee is £1,250.00 or $2025550123 or 2 025 550 123 EUR",
    "10115 Berlin, SW1A 1AA, IL 62704, 75011 Paris",
    "case reference 2025551234",
    "My application no. is 612 345 678",
    "Ref: 01701234567",
    "CASE-2024-000123, K7M-4QX9, A-2024-0001234",
    "invoice 4440514013590",
    "open 08:30 to 16:30 on 2024-05-03, 3.5 hours",
    "Form 1040, I-485, DS-160 2023-2024",
    "I called 911 and 112",
    "born in 1960, so when can I retire?",
    "My passport expires on 12/05/2026",
    "my birth certificate costs 12.50. I apply on 03/05/2026",
    "2 kids on the street, 3 Supreme Court cases, 5 minutes drive, 1 day way",
    "Parkplatz 3, Arbeitsplatz 2, Rechtsweg 2",
    "via email 2 days ago, calle con 3",
    "1234 5678 9012 3456 is no card",
    "me@home, @handle, a@b, user@",
    "DX-202-555-0143, LX0170 1234567",
    "I call about case 2025550143",
    "GB82 WEST 1234 5698 7654 33 is a wrong code",
    "my passport: 12/05/2026",
    "When was I born? I apply on 03/05/2026",
    "moving to 2 rooms on the road, gate 5 Central Court",
    "version 10.0.0.1 of 192.168.100.200",
]


@pytest.mark.parametrize(("text", "redacted"), FOUND, ids=[text[:24] for text, _ in FOUND])
def test_it_hides_personal_data(text: str, redacted: str) -> None:
    assert prepare(text).text == redacted


@pytest.mark.parametrize("text", LEFT, ids=[text[:24] for text in LEFT])
def test_it_leaves_what_is_not_personal(text: str) -> None:
    assert prepare(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "+49 1\u200b70 12\u202e34567\u202c",
        "+49\u00a0170\u20091234567",
        "+４９ １７０ １２３４５６７",
        "jo\u200bhn@ex\u00adample.\u2060org",
        "DE89\u200f3704\u200e0044 0532 0130 00",
        "5\U000e00413\ufeff6-90\u2011439\u200d9",
        "**536-90-4399**",
    ],
    ids=ascii,
)
def test_it_sees_through_what_people_cannot_see(text: str) -> None:
    prepared = prepare(text)
    assert len(prepared.segments) == 1
    assert not any(character.isdigit() for character in prepared.text.split("]")[1])
    assert not any(character.isalnum() for character in prepared.text.split("[")[0])


def test_it_numbers_each_kind_and_gives_one_value_one_placeholder() -> None:
    prepared = prepare("a@x.example, +49 170 1234567, b@x.example and a@x.example")
    assert prepared.text == "[EMAIL_1], [PHONE_1], [EMAIL_2] and [EMAIL_1]"
    assert [segment.kind for segment in prepared.segments] == ["EMAIL", "PHONE", "EMAIL", "EMAIL"]


def test_it_makes_one_stretch_of_finds_that_overlap() -> None:
    finds = [("ADDRESS", 10, 12, 1), ("EMAIL", 0, 5, 0), ("PHONE", 3, 9, 0), ("CARD", 10, 12, 0)]
    assert _stretches(finds) == [("PHONE", 0, 9), ("CARD", 10, 12)]
    # The local part looks like a telephone number.
    assert prepare("2025550143@example.org").text == "[EMAIL_1]"


def test_it_knows_the_national_numbers_of_the_regions_given() -> None:
    assert prepare("0712 345 678", regions=["KE"]).text == "[PHONE_1]"
    assert prepare("0712 345 678", regions=["US"]).text == "0712 345 678"


def test_it_keeps_personal_data_out_of_its_representation() -> None:
    assert "a@x.example" not in repr(prepare("a@x.example"))
