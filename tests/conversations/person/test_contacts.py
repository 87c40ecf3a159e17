"""How a citizen's telephone number and address are read."""

from __future__ import annotations

import pytest
from django.conf import settings

from conversations.person.contacts import UnusableContact, email, telephone
from tests.administration.setting import put
from tests.conversations.person.asking import ADDRESS


@pytest.mark.django_db
def test_a_number_is_kept_in_one_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "DE")
    assert telephone("030 1234567") == telephone("+49 (30) 1234567") == "+49301234567"
    assert email("  ana@example.org ") == ADDRESS


@pytest.mark.django_db
def test_without_holidays_a_number_is_of_the_country_of_the_own_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "")
    put("contacts", telephone="+44 20 7946 0100")
    assert telephone("020 7946 0999") == "+442079460999"


@pytest.mark.django_db
def test_without_a_country_a_number_needs_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "")
    with pytest.raises(UnusableContact, match="country code"):
        telephone("030 1234567")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("country", "national", "international"),
    [("DE-BY", "030 123456", "+49 30 123456"), ("GB", "0121 234 5678", "+44 121 234 5678")],
)
def test_the_error_shows_numbers_of_the_own_country(
    monkeypatch: pytest.MonkeyPatch, country: str, national: str, international: str
) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "")
    put("hours", country=country)
    put("contacts", telephone="+999 20 555 0199")
    with pytest.raises(UnusableContact) as refused:
        telephone("later please")
    assert national in str(refused.value)
    assert international in str(refused.value)
    assert telephone(national) == telephone(international) == international.replace(" ", "")


@pytest.mark.django_db
def test_a_country_without_a_code_of_its_own_has_the_numbers_of_its_administration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "")
    put("contacts", telephone="+999 20 555 0199")
    for value in ("020 555 0143", "+999 20 555 0143", "00999 20-5550143", "(020) 555.0143"):
        assert telephone(value) == "+999205550143"
    assert telephone("+49 30 1234567") == "+49301234567"
    for value in ("020", "020 555 0143 x 5", "call me", "+999 20 555 0143 0143 0143"):
        with pytest.raises(UnusableContact, match="020 555 0199 or \\+999 20 555 0199"):
            telephone(value)
