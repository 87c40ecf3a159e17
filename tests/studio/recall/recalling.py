"""Answers from two versions of a service, and people who look for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversations.models import Correction, CorrectionNotice, Turn
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from ieim.studio.recall import services as sending
from tests.fixtures import DEMO
from tests.review.people import person

IMMIGRATION = "immigration"
WRONG = "The fee is 45 euros, not 40. We are sorry."


@pytest.fixture
def editor(db: None) -> User:
    """An editor of every agency."""
    return person("eve", Role.EDITOR)


def key_of(turn: Turn) -> str:
    """The service that a turn was answered from."""
    return str(turn.reply.body["sources"][0]["service_key"])


def publish_fee(service: str, fees: str) -> int:
    """Publish the demo knowledge with another fee; returns the release's number."""
    bundle = read_bundle(DEMO)
    services = tuple(
        replace(result, fees=fees)
        if (result.agency, result.key) == (IMMIGRATION, service)
        else result
        for result in bundle.services
    )
    knowledge.import_bundle(bundle=replace(bundle, services=services), by=None)
    return publishing.publish(note="another fee", by=None).number


def correct(turn: Turn, by: User, text: str = WRONG) -> CorrectionNotice:
    """Send a correction to every answer made from the service of a turn."""
    notice = sending.confirm(agency=IMMIGRATION, service=key_of(turn), text=text, by=by)
    return sending.deliver(notice_id=notice.pk)


def texts_of(turn: Turn) -> list[str]:
    """The corrections under a turn."""
    return [result.notice.text for result in Correction.objects.filter(turn=turn)]
