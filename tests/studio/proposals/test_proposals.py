"""Proposing the draft, and a second person who publishes it."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing, publishing, services
from ieim.studio.models import Change, GoldenRun, HelpLine, Proposal, Service
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, editor_and_publisher, person
from tests.studio.api.editing_api import Editor
from tests.studio.proposals.proposing import (
    ask_golden,
    change,
    events,
    proposed,
    published,
    reasons,
    run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def edith(bundle: Bundle, db: None) -> User:
    """An editor; the small bundle is release 1."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)
    return person("edith", Role.EDITOR, name="Edith Ek")


@pytest.fixture
def paul(db: None) -> User:
    """Somebody who publishes and edits."""
    return editor_and_publisher("paul", name="Paul Peck")


def test_it_keeps_a_snapshot_while_editing_goes_on(edith: User) -> None:
    proposal = proposed(edith)
    change(edith, fees="100 crowns")
    stored = Proposal.objects.get(pk=proposal.pk)
    fees = {service["key"]: service["fees"] for service in stored.content["services"]}
    assert (fees["renew"], stored.note, stored.base_id) == ("90 crowns", "A new fee", 1)
    assert stored.sha256 == Bundle.from_content(stored.content).release().sha256
    assert {"category.unreached", "overview.empty"} <= {check["code"] for check in stored.checks}
    assert selectors.current_number() == 1


def test_a_second_person_publishes_it(edith: User, paul: User) -> None:
    proposal = proposed(edith)
    release = published(proposal.pk, paul)
    stored = Release.objects.get(number=2)
    assert (stored.sha256, stored.note, stored.created_by) == (proposal.sha256, "A new fee", edith)
    assert release.number == selectors.current_number() == 2
    assert stored.publications.get().published_by == paul
    proposal.refresh_from_db()
    assert (proposal.state, proposal.release, proposal.decided_by) == ("published", stored, paul)
    event = AuditEvent.objects.filter(kind="knowledge.published").latest("seq")
    assert event.actor == "staff:paul"
    assert json.loads(event.payload)["proposed_by"] == "edith"
    assert events() == ["knowledge.published", "knowledge.proposed", "knowledge.published"]


def test_nobody_publishes_or_turns_down_their_own(edith: User) -> None:
    proposal = proposed(edith)
    edith.is_superuser = True
    edith.save()
    (refusal,) = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=edith)
    assert "somebody else must publish it" in refusal
    (refusal,) = reasons(proposals.refuse, proposal_id=proposal.pk, by=edith, reason="No")
    assert "somebody else must turn it down" in refusal
    assert selectors.current_number() == 1


def test_it_needs_the_permissions(edith: User) -> None:
    caseworker = person("carla", Role.CASEWORKER)
    assert "may not propose" in reasons(proposals.propose, note="x", by=caseworker)[0]
    release = Release.objects.get()
    again = reasons(proposals.propose_again, release=release, note="x", by=caseworker)
    assert "may not propose" in again[0]
    proposal = proposed(edith)
    for by in (caseworker, person("olga", Role.EDITOR)):
        for action in (proposals.publish_proposal, proposals.refuse):
            refusal = reasons(action, proposal_id=proposal.pk, by=by, reason="x")
            assert refusal[0].startswith("You may not")
    assert Proposal.objects.get().state == Proposal.State.OPEN
    pia = person("pia", Role.PUBLISHER)
    assert "may not propose" in reasons(proposals.propose, note="x", by=pia)[0]
    assert published(proposal.pk, pia).number == 2


@pytest.mark.parametrize("note", [" \n", "\x00", "x" * 2_001])
def test_it_needs_a_note(edith: User, note: str) -> None:
    change(edith, fees="90 crowns")
    assert len(reasons(proposals.propose, note=note, by=edith)) == 1
    assert Proposal.objects.get().state == Proposal.State.DRAFT


def test_it_does_not_propose_what_is_current_already(edith: User) -> None:
    assert "same as the current release, 1" in reasons(proposals.propose, note="x", by=edith)[0]


def test_it_does_not_propose_a_draft_with_errors(edith: User) -> None:
    Service.objects.filter(key="renew").update(categories=["gone"], url="ftp://x")
    refusal = reasons(proposals.propose, note="x", by=edith)
    assert len(refusal) == 2
    assert "gone" in "".join(refusal)
    Service.objects.all().delete()
    assert reasons(proposals.propose, note="x", by=edith) == [
        "The draft has no services: add some first."
    ]


def test_only_the_author_withdraws(edith: User, paul: User) -> None:
    proposal = proposed(edith)
    assert "Only its author" in reasons(proposals.withdraw, proposal_id=proposal.pk, by=paul)[0]
    proposals.withdraw(proposal_id=proposal.pk, by=edith)
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.WITHDRAWN
    assert events()[-1] == "knowledge.proposal_withdrawn"


def test_it_is_turned_down_with_a_reason(edith: User, paul: User) -> None:
    proposal = proposed(edith)
    assert (
        "Write a reason"
        in reasons(proposals.refuse, proposal_id=proposal.pk, by=paul, reason=" ")[0]
    )
    proposals.refuse(proposal_id=proposal.pk, by=paul, reason="The fee is 85")
    stored = Proposal.objects.get(pk=proposal.pk)
    assert (stored.state, stored.reason, stored.decided_by) == ("refused", "The fee is 85", paul)
    assert events()[-1] == "knowledge.proposal_refused"
    assert selectors.current_number() == 1


def test_it_is_decided_once(edith: User, paul: User) -> None:
    proposal = proposed(edith)
    proposals.publish_proposal(proposal_id=proposal.pk, by=paul)
    refusal = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=paul)
    assert refusal == [
        f"Proposal {proposal.pk} is not open any more: Paul Peck has published it as release 2."
    ]
    assert "published it" in reasons(proposals.withdraw, proposal_id=proposal.pk, by=edith)[0]
    assert "no proposal 99" in reasons(proposals.publish_proposal, proposal_id=99, by=paul)[0]


def test_it_is_not_published_over_another_change_of_the_same_field(edith: User, paul: User) -> None:
    proposal = proposed(edith)
    change(paul, fees="95 crowns")
    publishing.publish(note="By the operator", by=None)
    refusal = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=paul)
    assert refusal == [
        "Release 2 changes passports renew too (What it costs): turn this down; its author then "
        "sees both and proposes it anew."
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (None, "Run the golden questions first"),
        (GoldenRun.State.QUEUED, "not done yet"),
        (GoldenRun.State.RUNNING, "not done yet"),
        (GoldenRun.State.FAILED, "has failed"),
    ],
)
def test_it_waits_for_the_golden_questions(
    edith: User, paul: User, state: str | None, words: str
) -> None:
    proposal = proposed(edith)
    ask_golden()
    if state:
        run(proposal, GoldenRun.State.DONE)
        run(proposal, state)
    refusal = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=paul, reason="x")
    assert words in refusal[0]
    run(proposal, GoldenRun.State.DONE)
    assert published(proposal.pk, paul).number == 2


def test_losses_need_a_written_reason(edith: User, paul: User) -> None:
    ask_golden()
    proposal = proposed(edith)
    run(proposal, GoldenRun.State.DONE, losses=2)
    refusal = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=paul, reason=" ")
    assert refusal == [
        "2 golden questions get worse: write why it shall be published all the same."
    ]
    proposals.publish_proposal(proposal_id=proposal.pk, by=paul, reason="The fee did change")
    assert Proposal.objects.get().reason == "The fee did change"
    event = AuditEvent.objects.filter(kind="knowledge.published").latest("seq")
    assert json.loads(event.payload)["losses"] == 2


def test_the_numbers_of_help_lines_are_not_changed_in_passing(edith: User, paul: User) -> None:
    def saved(text: str) -> Proposal:
        help_line = HelpLine.objects.filter(language="fr", flag="threat").first()
        editing.save(
            table="help_lines",
            values={"language": "fr", "flag": "threat", "text": text},
            by=edith,
            expected_version=help_line.version if help_line else None,
            source=Change.Source.ADMIN,
        )
        return proposals.propose(note="Help", by=edith)

    proposals.publish_proposal(proposal_id=saved("Appelez le 0100.").pk, by=paul)
    proposals.publish_proposal(proposal_id=saved("Appelez vite le 0100.").pk, by=paul)
    proposal = saved("Appelez vite le 0199.")
    (refusal,) = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=paul)
    assert refusal.startswith("It changes numbers that somebody in danger may call (fr threat)")
    page = browser(paul).get(f"/knowledge/proposals/{proposal.pk}/").content.decode()
    assert "Call them, and write here that they are right." in page
    proposals.publish_proposal(proposal_id=proposal.pk, by=paul, reason="Called it")
    assert selectors.current_number() == 4


def test_who_decides_works_for_every_agency_that_it_touches(edith: User) -> None:
    change(edith, "tax", "return", fees="5 crowns")
    proposal = proposed(edith)
    pam = person("pam", Role.PUBLISHER, "passports")
    for action in (proposals.publish_proposal, proposals.refuse):
        with pytest.raises(proposals.BeyondScope, match="also touches tax"):
            action(proposal_id=proposal.pk, by=pam, reason="x")
    assert Proposal.objects.get().state == Proposal.State.OPEN
    both = person("both", Role.PUBLISHER, "passports", "tax")
    assert published(proposal.pk, both).number == 2


def test_what_all_agencies_share_is_decided_by_who_works_for_all(edith: User) -> None:
    editing.save(
        table="labels",
        values={"set": "intents", "code": "ask", "name": "Asks"},
        by=edith,
        expected_version=None,
        source=Change.Source.ADMIN,
    )
    proposal = proposals.propose(note="A label", by=edith)
    pam = person("pam", Role.PUBLISHER, "passports", "tax")
    refusal = reasons(proposals.refuse, proposal_id=proposal.pk, by=pam, reason="x")
    assert "what all agencies share" in refusal[0]
    proposals.refuse(proposal_id=proposal.pk, by=person("pia", Role.PUBLISHER), reason="x")


def test_the_list_over_rest_takes_as_many_queries_however_long_it_is(edith: User) -> None:
    editor, counts = Editor(edith), []
    for fees in ("90 crowns", "95 crowns"):
        proposed(edith, fees)
        with CaptureQueriesContext(connection) as queries:
            assert editor.get("proposals/").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
