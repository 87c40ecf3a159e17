"""``manage.py switch``: the switches of the settings from a terminal, recorded with who did it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ieim.administration import selectors
from ieim.audit.models import AuditEvent
from ieim.people.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def eva(db: None) -> User:
    return User.objects.create_superuser("eva")


def switch(*arguments: str) -> list[str]:
    output = StringIO()
    call_command("switch", *arguments, stdout=output)
    return output.getvalue().splitlines()


def test_it_switches_off_and_on_and_the_record_says_who_did_it(eva: User) -> None:
    assert switch("list") == ["chat: on", "api: on", "model: on"]
    assert switch("off", "chat", "model", "--by", "eva") == ["chat: off", "api: on", "model: off"]
    organisation = selectors.current()
    assert organisation.is_off("chat")
    assert not organisation.is_off("api")
    event = AuditEvent.objects.filter(kind="administration.changed").latest("at")
    assert event.actor == eva.actor
    assert json.loads(event.payload)["changed"] == {"chat": ["", "on"], "model": ["", "on"]}
    assert switch("on", "chat", "--by", "eva") == ["chat: on", "api: on", "model: off"]
    assert not selectors.current().is_off("chat")


def test_agencies_are_switched_one_by_one(eva: User, published: None) -> None:
    switch("off", "agency:passports", "agency:housing", "--by", "eva")
    assert selectors.current().agencies_off == {"passports", "housing"}
    assert switch("on", "agency:passports", "--by", "eva")[3:] == ["agency:housing: off"]
    with pytest.raises(CommandError, match="“nowhere” is not among the agencies"):
        switch("off", "agency:nowhere", "--by", "eva")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("off", "chat"), "--by USERNAME"),
        (("off", "chat", "--by", "nobody"), "--by USERNAME"),
        (("off", "chat", "--by", "uma"), "--by USERNAME"),  # no administrator
        (("off", "--by", "eva"), "Say what to switch"),
        (("off", "lights", "--by", "eva"), "There is no switch lights"),
    ],
)
def test_it_changes_nothing_that_it_cannot_answer_for(
    eva: User, arguments: tuple[str, ...], problem: str
) -> None:
    User.objects.create_user("uma")
    with pytest.raises(CommandError, match=problem):
        switch(*arguments)
    assert switch("list") == ["chat: on", "api: on", "model: on"]
