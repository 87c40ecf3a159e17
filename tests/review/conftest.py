"""A turn that stopped, made by the real services, and staff who may look at it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from conversations.models import Session, Turn
from conversations.turns.services import new_reference
from ieim.people.models import User
from review.item import views
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model


@pytest.fixture
def stopped(ask: Ask) -> Turn:
    """A turn that failed closed when it looked for a topic: the agency is known."""
    with scripted_model({"category_select_v1": ["no json", "```{}```"]}) as (model, _):
        return ask(VISA, model=model)


@pytest.fixture
def turn(db: None) -> Turn:
    """A turn that no stage has seen."""
    return make_turn()


def make_turn(text: str = "Where do I get a permit?") -> Turn:
    """Store a turn as it is when a message has just come, without knowledge to answer it from."""
    session = Session.objects.create(reference=new_reference(), secret_sha256=uuid4().hex * 2)
    return Turn.objects.create(
        session=session, number=1, text=text, release_number=1, queued_at=timezone.now()
    )


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    """A browser of somebody who may see the queue."""
    eva = User.objects.create_user("eva", is_staff=True)
    eva.user_permissions.add(Permission.objects.get(codename="view_reviewitem"))
    client.force_login(eva)
    return client


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let decisions take effect at once, where a test is not about taking them back."""
    monkeypatch.setattr(views, "SECONDS_TO_UNDO", timedelta())
