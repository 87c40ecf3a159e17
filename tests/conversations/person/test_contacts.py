"""How a citizen's telephone number and address are read."""

from __future__ import annotations

import pytest
from django.conf import settings

from conversations.person.contacts import UnusableContact, email, telephone
from tests.administration.setting import put
from tests.conversations.person.asking import ADDRESS


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
