"""``manage.py switch``: the switches of the settings from a terminal, recorded with who did it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ieim.administration import selectors
from ieim.audit.models import AuditEvent
from ieim.people.models import User


@pytest.fixture(autouse=True)
def eva(published: None) -> User:
    User.objects.create_user("uma")
    return User.objects.create_superuser("eva")


def switch(*arguments: str) -> list[str]:
    output = StringIO()
    call_command("switch", *arguments, stdout=output)
    return output.getvalue().splitlines()


def test_it_switches_off_and_on_and_the_record_says_who_did_it(eva: User) -> None:
    assert switch("list") == ["chat: on", "api: on", "model: on"]
    off = switch("off", "chat", "model", "agency:passports", "agency:housing", "--by", "eva")
    assert off == ["chat: off", "api: on", "model: off", "agency:housing: off", *off[4:]]
    event = AuditEvent.objects.filter(kind="administration.changed").latest("at")
    assert event.actor == eva.actor
    assert json.loads(event.payload)["changed"]["model"] == ["", "on"]
    on = switch("on", "chat", "agency:housing", "--by", "eva")
    assert on == ["chat: on", "api: on", "model: off", "agency:passports: off"]
    assert not selectors.current().is_off("chat")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("off", "chat"), "--by USERNAME"),
        (("off", "chat", "--by", "uma"), "--by USERNAME"),  # no administrator
        (("off", "lights", "--by", "eva"), "There is no switch lights"),
        (("off", "agency:nowhere", "--by", "eva"), "“nowhere” is not among the agencies"),
    ],
)
def test_it_changes_nothing_that_it_cannot_answer_for(
    arguments: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(CommandError, match=problem):
        switch(*arguments)
    assert switch("list") == ["chat: on", "api: on", "model: on"]
