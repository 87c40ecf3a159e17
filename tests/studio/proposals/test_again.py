"""Going back to an earlier release; turns that began before; two people at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Reply
from conversations.turns import running
from conversations.turns import services as conversations
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Publication, Release
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import publishing, services
from ieim.studio.models import Service
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.services import ProposalError
from ieim.studio.trying import services as golden
from tests.fixtures import VISA
from tests.review.people import editor_and_publisher, person
from tests.studio.proposals.proposing import (
    ask_golden,
    change,
    proposed,
    published,
    reasons,
)

pytestmark = pytest.mark.both_databases

InThreads = Callable[[list[Callable[[], Any]]], list[Any]]


def editors() -> tuple[User, User]:
    return editor_and_publisher("edith"), editor_and_publisher("paul")


@pytest.fixture
def first(bundle: Bundle) -> None:
    """The small bundle as release 1."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)


@pytest.mark.django_db
def test_going_back_publishes_the_old_release_and_leaves_the_draft(first: None) -> None:
    edith, paul = editors()
    proposals.publish_proposal(proposal_id=proposed(edith).pk, by=paul)
    old = Release.objects.get(number=1)
    back = proposals.propose_again(release=old, note="The fee was wrong", by=paul)
    assert "somebody else" in reasons(proposals.publish_proposal, proposal_id=back.pk, by=paul)[0]
    assert published(back.pk, edith) == old
    assert selectors.current_number() == 1
    assert Release.objects.count() == 2
    assert list(Publication.objects.values_list("release_id", flat=True)) == [1, 2, 1]
    assert Service.objects.get(key="renew").fees == "90 crowns"


@pytest.mark.django_db
def test_the_current_release_is_not_proposed_again(first: None) -> None:
    edith, _ = editors()
    release = Release.objects.get()
    reason = reasons(proposals.propose_again, release=release, note="x", by=edith)
    assert reason == ["Release 1 is the same as the current release, 1."]


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_a_turn_that_has_begun_keeps_its_release() -> None:
    edith, paul = editors()
    secret = conversations.new_secret()
    turn = conversations.receive(session=secret, text=VISA, enqueue=False)[0]
    service = Service.objects.get(key="immigration.extend-tourist-visa")
    change(edith, service.agency_id, service.key, name="Stay longer as a tourist")
    proposal = proposals.propose(note="Plain words", by=edith)
    proposals.publish_proposal(proposal_id=proposal.pk, by=paul)
    running.run_turn(turn_id=turn.pk)
    assert selectors.current_number() == 2
    assert "Extend a tourist visa" in str(Reply.objects.get().body)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_publishes_and_the_others_are_told(
    bundle: Bundle, in_threads: InThreads
) -> None:
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)
    edith, paul = editors()
    ben = person("ben", Role.PUBLISHER)
    pk = proposed(edith).pk

    def publish(by: User) -> str:
        try:
            return f"release {published(pk, by).number}"
        except ProposalError as error:
            return error.reasons[0]

    results = in_threads([partial(publish, by) for by in (paul, ben) * 5])
    assert results.count("release 2") == 1
    assert sum("is not open any more" in reason for reason in results) == 9
    assert Release.objects.count() == Publication.objects.count() == 2


@pytest.mark.django_db
def test_who_asks_the_golden_questions_locks_as_who_publishes_does(bundle: Bundle) -> None:
    """The record first, then the proposal: in two orders the two would wait for each other."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)
    edith, _ = editors()
    proposal = proposed(edith)
    ask_golden()
    with CaptureQueriesContext(connection) as made:
        assert golden.start(proposal=proposal, by=edith).state == "queued"
    statements = [query["sql"] for query in made]
    locked = next(n for n, sql in enumerate(statements) if "audit_audithead" in sql)
    read = next(n for n, sql in enumerate(statements) if 'FROM "studio_proposal"' in sql)
    assert locked < read
