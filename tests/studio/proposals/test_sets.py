"""Change sets: editors of several agencies beside each other, times, and taking back."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import Service as ServiceValue
from ieim.studio.checks import services as checking
from ieim.studio.drafts import editing, publishing, services, sets
from ieim.studio.models import Change, Comment, Proposal, Service, Translation
from ieim.studio.proposals import restoring, timing
from ieim.studio.proposals import services as proposals
from tests.review.people import browser, editor_and_publisher, person
from tests.studio.proposals.proposing import ask_golden, change, published, reasons, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def edith(bundle: Bundle, db: None) -> User:
    """An editor of passports; the small bundle is release 1."""
    services.import_bundle(bundle=bundle, by=None)
    publishing.publish(note="First", by=None)
    return person("edith", Role.EDITOR, "passports", name="Edith Ek")


@pytest.fixture
def tom(db: None) -> User:
    """An editor of the tax office."""
    return person("tom", Role.EDITOR, "tax", name="Tom Tax")


@pytest.fixture
def pam(db: None) -> User:
    """Who publishes for passports alone."""
    return person("pam", Role.PUBLISHER, "passports", name="Pam Pass")


def current(agency: str = "passports", key: str = "renew") -> ServiceValue:
    release = selectors.current_release()
    assert release is not None
    return release.services[agency, key]


def test_what_another_agency_has_not_finished_is_not_published(
    edith: User, tom: User, pam: User
) -> None:
    change(tom, "tax", "return", fees="XXX TODO")
    change(edith, fees="90 crowns")
    proposal = proposals.propose(note="A new fee", by=edith)
    assert published(proposal.pk, pam).number == 2
    assert current().fees == "90 crowns"
    assert current("tax", "return").fees != "XXX TODO"
    (row,) = Proposal.objects.filter(state="draft")
    assert row.proposed_by == tom
    assert sets.parts_of(row).keys() == {("services", "tax return")}
    assert Service.objects.get(key="return").fees == "XXX TODO"


def test_several_are_open_and_each_adds_to_the_newest_release(
    edith: User, tom: User, pam: User
) -> None:
    change(edith, fees="90 crowns")
    first = proposals.propose(note="A fee", by=edith)
    change(tom, "tax", "return", fees="5 crowns")
    second = proposals.propose(note="Another", by=tom)
    assert published(second.pk, person("pia", Role.PUBLISHER, "tax")).number == 2
    assert published(first.pk, pam).number == 3
    assert (current().fees, current("tax", "return").fees) == ("90 crowns", "5 crowns")
    first.refresh_from_db()
    assert first.base_id == 2
    assert selectors.release(3).sha256 == first.sha256


def test_different_fields_of_one_entry_are_merged(edith: User, pam: User) -> None:
    change(edith, fees="90 crowns")
    first = proposals.propose(note="A fee", by=edith)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days", fees="80 crowns")
    change(olga, fees="90 crowns")
    second = proposals.propose(note="Quicker", by=olga)
    published(second.pk, pam)
    published(first.pk, pam)
    assert (current().fees, current().processing_time) == ("90 crowns", "Two days")


def test_who_else_changed_an_entry_is_seen(edith: User) -> None:
    change(edith, fees="90 crowns")
    olga = person("olga", Role.EDITOR, "passports", name="Olga Oh")
    change(olga, fees="nothing")
    assert sets.working_set(olga) is None
    (row,) = Proposal.objects.all()
    page = browser(edith).get(f"/knowledge/proposals/{row.pk}/").content.decode()
    assert "Olga Oh" in page
    assert "nothing" in page


def test_two_fields_of_one_entry_are_in_two_sets(edith: User, pam: User) -> None:
    """What one has agreed for later does not go live with what the other has ready now."""
    before, now = current().fees, timezone.now()
    change(edith, fees="90 crowns")
    later = proposals.propose(note="In May", by=edith, publish_at=now + timedelta(days=1))
    proposals.publish_proposal(proposal_id=later.pk, by=pam)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    quick = proposals.propose(note="Quicker", by=olga)
    published(quick.pk, pam)
    assert (current().fees, current().processing_time) == (before, "Two days")
    assert not sets.in_no_set()
    timing.sweep(now=now + timedelta(days=1, seconds=1))
    assert (current().fees, current().processing_time) == ("90 crowns", "Two days")


def test_what_was_turned_down_does_not_come_back_in_another_set(edith: User, pam: User) -> None:
    before = current().fees
    change(edith, fees="90 crowns")
    first = proposals.propose(note="A fee", by=edith)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    second = proposals.propose(note="Quicker", by=olga)
    proposals.refuse(proposal_id=first.pk, by=pam, reason="It is 95")
    again = sets.working_set(edith)
    assert again is not None
    assert sets.parts_of(again)["services", "passports renew"].columns == {"fees"}
    published(second.pk, pam)
    assert current().fees == before


def test_at_its_end_a_text_leaves_the_draft_though_another_field_was_changed(
    edith: User, pam: User
) -> None:
    before, now = current().fees, timezone.now()
    change(edith, fees="90 crowns")
    end = now + timedelta(days=1)
    published(proposals.propose(note="For a day", by=edith, expires_at=end).pk, pam)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    timing.sweep(now=end)
    row = Service.objects.get(key="renew")
    assert (row.fees, row.processing_time) == (before, "Two days")
    assert Change.objects.latest("id").by is None
    published(proposals.propose(note="Quicker", by=olga).pk, pam)
    assert current().fees == before


def test_a_field_of_what_is_new_in_another_set_waits_for_it(edith: User) -> None:
    values = {"agency": "passports", "key": "lend", "name": "Lend a passport"}
    source = Change.Source.ADMIN
    editing.save(table="services", values=values, by=edith, expected_version=None, source=source)
    proposals.propose(note="New", by=edith)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, key="lend", fees="9 crowns")
    (refusal,) = reasons(proposals.propose, note="A fee", by=olga)
    assert "It is new, in another set" in refusal


def test_an_own_change_is_thrown_away_and_the_others_stay(edith: User) -> None:
    before = current().fees
    change(edith, fees="90 crowns")
    own = sets.working_set(edith)
    assert own is not None
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    name = ("services", "passports renew")
    assert "works on it" in reasons(proposals.discard, proposal_id=own.pk, names={name}, by=olga)[0]
    proposals.discard(proposal_id=own.pk, names={name}, by=edith)
    row = Service.objects.get(key="renew")
    assert (row.fees, row.processing_time) == (before, "Two days")
    assert not sets.parts_of(own)


def test_what_a_set_refers_to_has_to_be_published_or_in_it(edith: User) -> None:
    values = {"agency": "passports", "key": "new", "value": "New things"}
    source = Change.Source.ADMIN
    editing.save(table="dictionary", values=values, by=edith, expected_version=None, source=source)
    first = sets.working_set(edith)
    assert first is not None
    second = sets.begin(edith)
    change(edith, categories=["new"])
    refusal = reasons(proposals.propose, note="x", by=edith)
    assert "new" in refusal[0]
    assert "take what it needs into this set too" in refusal[-1]
    page = browser(edith).get(f"/knowledge/proposals/{second.pk}/")
    assert page.status_code == 200
    assert b"new" in page.content
    proposals.take(by=edith, names=sets.parts_of(first), proposal_id=second.pk)
    assert proposals.propose(note="x", by=edith).pk == second.pk


def test_a_refused_set_is_edited_again(edith: User, pam: User) -> None:
    change(edith, fees="90 crowns")
    proposal = proposals.propose(note="A fee", by=edith)
    assert sets.working_set(edith) is None
    proposals.refuse(proposal_id=proposal.pk, by=pam, reason="It is 95")
    again = sets.working_set(edith)
    assert again is not None
    assert again.note == "A fee"
    assert sets.parts_of(again).keys() == {("services", "passports renew")}
    change(edith, fees="95 crowns")
    published(proposals.propose(note="The right fee", by=edith).pk, pam)
    assert current().fees == "95 crowns"


def test_what_is_in_no_set_is_taken_by_agency(edith: User, tom: User) -> None:
    Service.objects.filter(key__in=["renew", "return"]).update(fees="1 crown")
    AuditEvent.objects.filter(kind="knowledge.imported")  # the draft is read anew below
    change(edith, "passports", "renew", fees="2 crowns")
    assert set(sets.in_no_set()) == {("services", "tax return")}
    assert sets.parts_of(proposals.take(by=edith)).keys() == {("services", "passports renew")}
    refusal = reasons(proposals.take, by=edith, names=[("services", "tax return")])
    assert refusal == ["You do not work for all of these agencies."]
    assert sets.parts_of(proposals.take(by=tom)).keys() == {("services", "tax return")}


def test_it_is_published_at_its_time_and_ends(edith: User, pam: User) -> None:
    before = current().fees
    now = timezone.now()
    change(edith, fees="90 crowns")
    proposal = proposals.propose(
        note="In summer",
        by=edith,
        publish_at=now + timedelta(days=1),
        expires_at=now + timedelta(days=9),
    )
    assert proposals.publish_proposal(proposal_id=proposal.pk, by=pam) is None
    timing.sweep(now=now)
    assert selectors.current_number() == 1
    timing.sweep(now=now + timedelta(days=1, seconds=1))
    assert (selectors.current_number(), current().fees) == (2, "90 crowns")
    change(edith, processing_time="Two days")
    published(proposals.propose(note="Quicker", by=edith).pk, pam)
    timing.sweep(now=now + timedelta(days=10))
    timing.sweep(now=now + timedelta(days=11))
    assert selectors.current_number() == 4
    assert (current().fees, current().processing_time) == (before, "Two days")
    event = AuditEvent.objects.filter(kind="knowledge.published").latest("seq")
    assert (event.actor, json.loads(event.payload)["ended"]) == ("system", True)


def test_the_draft_is_what_it_was_after_the_end(edith: User, pam: User) -> None:
    now = timezone.now()
    change(edith, fees="90 crowns")
    end = now + timedelta(days=1)
    proposal = proposals.propose(note="For a day", by=edith, expires_at=end)
    published(proposal.pk, pam)
    timing.sweep(now=end)
    assert Service.objects.get(key="renew").fees == current().fees != "90 crowns"
    assert not sets.in_no_set()
    assert not sets.parts_of(Proposal.objects.filter(state="draft").first() or proposal)


def test_one_that_cannot_be_published_in_time_waits_again(edith: User, pam: User) -> None:
    now = timezone.now()
    change(edith, fees="90 crowns")
    later = now + timedelta(days=1)
    proposal = proposals.propose(note="Later", by=edith, publish_at=later)
    proposals.publish_proposal(proposal_id=proposal.pk, by=pam)
    change(edith, fees="70 crowns")
    published(proposals.propose(note="Sooner", by=edith).pk, pam)
    timing.sweep(now=later)
    proposal.refresh_from_db()
    assert (proposal.state, current().fees) == ("open", "70 crowns")
    assert "It could not be published in time. Release 2 changes" in Comment.objects.get().text


@pytest.mark.parametrize(("publish", "ends"), [(-1, None), (None, -1), (5, 4), (None, 4_000)])
def test_a_time_that_is_over_is_refused(edith: User, publish: int | None, ends: int | None) -> None:
    change(edith, fees="90 crowns")
    at, end = (
        None if days is None else timezone.now() + timedelta(days=days) for days in (publish, ends)
    )
    refusal = reasons(proposals.propose, note="x", by=edith, publish_at=at, expires_at=end)
    assert "time" in refusal[0]
    assert Proposal.objects.get().state == "draft"


def test_an_emergency_is_published_alone_with_a_reason(edith: User) -> None:
    ask_golden()
    paul = editor_and_publisher("paul")
    change(paul, fees="90 crowns")
    proposal = proposals.propose(note="Wrong number", by=paul)
    run(proposal, "failed")
    alone: dict[str, Any] = {"proposal_id": proposal.pk, "alone": True}
    assert "may not" in reasons(proposals.publish_proposal, by=edith, **alone)[0]
    pia = person("pia", Role.PUBLISHER)
    (refused,) = reasons(proposals.publish_proposal, by=pia, reason="Quick", **alone)
    assert "you are the second person" in refused
    refusal = reasons(proposals.publish_proposal, by=paul, **alone)
    assert refusal[0].startswith("Write why nobody else")
    proposals.publish_proposal(by=paul, reason="Somebody was hurt", **alone)
    event = AuditEvent.objects.filter(kind="knowledge.published").latest("seq")
    assert json.loads(event.payload)["alone"] is True
    assert current().fees == "90 crowns"


def test_a_set_is_taken_back_without_the_others_work(edith: User, pam: User) -> None:
    before = current().fees
    change(edith, fees="90 crowns")
    first = proposals.propose(note="A fee", by=edith)
    published(first.pk, pam)
    tom = person("tom", Role.EDITOR, "tax")
    change(tom, "tax", "return", fees="1 crown")
    published(proposals.propose(note="Another", by=tom).pk, person("pia", Role.PUBLISHER))
    back = restoring.restore(number=1, names={("services", "passports renew")}, by=edith)
    published(proposals.propose(note="Back", by=edith, proposal_id=back.pk).pk, pam)
    assert (current().fees, current("tax", "return").fees) == (before, "1 crown")
    refusal = reasons(
        restoring.restore, number=1, names={("services", "passports renew")}, by=edith
    )
    assert refusal == ["The current release has it like that already."]


def test_the_pages_of_a_set(edith: User, pam: User) -> None:
    client = browser(edith)
    change(edith, fees="90 crowns")
    home = client.get("/knowledge/").content.decode()
    assert "1 entry" in home
    (row,) = Proposal.objects.all()
    assert client.get("/knowledge/propose/")["Location"] == f"/knowledge/proposals/{row.pk}/"
    address = f"/knowledge/proposals/{row.pk}"
    wrong = client.post(f"{address}/propose/", {"text": "A fee", "publish_at": "soon"})
    assert wrong.status_code == 422
    assert "2027-01-31 08:00" in wrong.content.decode()
    assert client.post(f"{address}/comment/", {"text": " "}).status_code == 422
    client.post(f"{address}/comment/", {"text": "Is 90 <b>right</b>?"})
    assert "Is 90 &lt;b&gt;right&lt;/b&gt;?" in client.get(f"{address}/").content.decode()
    done = client.post(f"{address}/propose/", {"text": "A fee", "publish_at": "2030-01-01T08:00"})
    assert done.status_code == 302
    browser(pam).post(f"{address}/publish/", {"text": ""})
    row.refresh_from_db()
    assert row.state == "scheduled"
    assert "To be published on 1 January 2030" in client.get(f"{address}/").content.decode()
    client.post(f"{address}/withdraw/")
    assert sets.working_set(edith) is not None
    response = client.post("/knowledge/sets/", {"note": "Fees\x00 of 2028"})
    assert "Fees of 2028" in client.get(response["Location"]).content.decode()


def test_a_publisher_takes_back_what_waits_for_its_time(edith: User, pam: User) -> None:
    change(edith, fees="90 crowns")
    in_a_year = timezone.now() + timedelta(days=365)
    row = proposals.propose(note="A fee", by=edith, publish_at=in_a_year)
    assert proposals.publish_proposal(proposal_id=row.pk, by=pam) is None
    address = f"/knowledge/proposals/{row.pk}/"
    other, pia = (person(n, Role.PUBLISHER, a) for n, a in (("olga", "tax"), ("pia", "passports")))
    assert "Take it back before its time" not in browser(other).get(address).content.decode()
    assert browser(other).post(f"{address}refuse/", {"text": "No"}).status_code == 403
    client = browser(pia)
    assert "Take it back before its time" in client.get(address).content.decode()
    assert client.post(f"{address}refuse/", {"text": " "}).status_code == 422
    assert client.post(f"{address}publish/", {"text": ""}).status_code == 422
    assert client.post(f"{address}refuse/", {"text": "The fee is not agreed."}).status_code == 302
    row.refresh_from_db()
    assert (row.state, row.decided_by, row.reason) == ("refused", pia, "The fee is not agreed.")
    assert sets.working_set(edith) is not None


def french(by: User, fees: str) -> None:
    """Write the French fee of the passport's renewal into the draft."""
    identity = {"language": "fr", "agency": "passports", "service": "renew"}
    stored = Translation.objects.filter(**identity).first()
    editing.save(
        table="translations",
        values={**identity, "category": "", "fees": fees},
        by=by,
        expected_version=None if stored is None else stored.version,
        source=Change.Source.ADMIN,
    )


@pytest.mark.parametrize("is_translated", [False, True])
def test_a_changed_original_marks_the_translation_that_is_published(
    edith: User, pam: User, is_translated: bool
) -> None:
    french(edith, "80 couronnes")
    published(proposals.propose(note="In French", by=edith).pk, pam)
    olga = person("olga", Role.EDITOR, "passports")
    change(edith, fees="90 crowns")
    if is_translated:
        french(olga, "90 couronnes")
    published(proposals.propose(note="A new fee", by=edith).pk, pam)
    release = selectors.current_release()
    assert release is not None
    (translation,) = release.translations
    assert (translation.fees, translation.stale) == ("80 couronnes", ("fees",))
    assert bool(sets.working_set(olga)) is is_translated
    if is_translated:
        published(proposals.propose(note="The French too", by=olga).pk, pam)
        release = selectors.current_release()
        assert release is not None
        (translation,) = release.translations
        assert (translation.fees, translation.stale) == ("90 couronnes", ())
    assert not sets.in_no_set()


def test_a_set_is_taken_over_and_taken_back_by_its_number(edith: User, pam: User) -> None:
    before = current().fees
    change(edith, fees="90 crowns")
    (row,) = Proposal.objects.all()
    olga = person("olga", Role.EDITOR, "passports")
    client = browser(olga)
    assert "Take these entries" in client.get(f"/knowledge/proposals/{row.pk}/").content.decode()
    own = client.post("/knowledge/sets/take/", {"set": row.pk})["Location"]
    working = sets.working_set(olga)
    assert working is not None
    assert own == f"/knowledge/proposals/{working.pk}/"
    assert not sets.parts_of(row)
    published(proposals.propose(note="A fee", by=olga).pk, pam)
    assert "Take this back" in client.get(own).content.decode()
    back = client.post("/knowledge/releases/1/restore/", {"set": working.pk})["Location"]
    assert "<ins>80</ins>" in client.get(back).content.decode()
    assert Service.objects.get(key="renew").fees == before


def test_the_progress_of_a_set_that_lacks_something_loads_the_page(edith: User) -> None:
    values = {"agency": "passports", "key": "new", "value": "New things"}
    source = Change.Source.ADMIN
    editing.save(table="dictionary", values=values, by=edith, expected_version=None, source=source)
    second = sets.begin(edith)
    change(edith, categories=["new"])
    page = browser(edith).get(f"/knowledge/proposals/{second.pk}/", headers={"HX-Request": "true"})
    assert page["HX-Refresh"] == "true"


def test_what_is_out_of_date_is_that_of_the_release_that_a_set_makes(
    edith: User, pam: User
) -> None:
    french(edith, "80 couronnes")
    published(proposals.propose(note="In French", by=edith).pk, pam)
    change(edith, fees="90 crowns")
    fee = proposals.propose(note="A new fee", by=edith)
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    own = sets.working_set(olga)
    assert own is not None
    (translation,) = sets.assembled(sets.parts_of(own)).bundle.translations
    assert translation.stale == ()
    published(fee.pk, pam)
    # That the translation is still right is in the set of who says so.
    stored = Translation.objects.get()
    editing.confirm_translation(
        translation=stored, by=edith, expected_version=stored.version, source=Change.Source.ADMIN
    )
    for user, stale in ((olga, ("fees",)), (edith, ())):
        working = sets.working_set(user)
        assert working is not None
        (translation,) = sets.assembled(sets.parts_of(working)).bundle.translations
        assert translation.stale == stale


def test_entries_are_left_out_on_the_page(edith: User) -> None:
    change(edith, fees="90 crowns")
    own = sets.working_set(edith)
    assert own is not None
    client, address = browser(edith), f"/knowledge/proposals/{own.pk}/"
    assert "Leave something out" in client.get(address).content.decode()
    olga = person("olga", Role.EDITOR, "passports")
    change(olga, processing_time="Two days")
    theirs = sets.working_set(olga)
    assert theirs is not None
    form = {"entry": "services passports renew", "to": "new"}
    page = client.post(f"{address}leave-out/", form, follow=True).content.decode()
    other = sets.working_set(edith)
    assert other is not None
    assert other.pk != own.pk
    assert f"Moved to change set {other.pk}." in page
    # What another editor changes of the same entry stays theirs.
    name = ("services", "passports renew")
    assert sets.parts_of(other)[name].columns == {"fees"}
    assert sets.parts_of(theirs)[name].columns == {"processing_time"}
    form = {"entry": "services passports renew", "discard": "yes"}
    client.post(f"/knowledge/proposals/{other.pk}/leave-out/", form)
    assert Service.objects.get(key="renew").fees == current().fees
    assert (
        "Choose what to leave out."
        in client.post(f"{address}leave-out/", {}, follow=True).content.decode()
    )


def test_nobody_publishes_a_text_of_their_own_in_somebody_elses_set(edith: User, pam: User) -> None:
    """Its author may have proposed it without seeing what a colleague has written into it."""
    bob = editor_and_publisher("bob", "passports")
    change(edith, fees="90 crowns")
    change(bob, fees="0 crowns")
    proposal = proposals.propose(note="A fee", by=edith)
    (refusal,) = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=bob)
    assert refusal.startswith("You changed it too (passports renew)")
    assert published(proposal.pk, pam).number == 2
    change(edith, fees="95 crowns")
    assert published(proposals.propose(note="Mine", by=edith).pk, bob).number == 3


def test_a_set_whose_end_is_over_is_not_published(edith: User, pam: User) -> None:
    change(edith, fees="90 crowns")
    end = timezone.now() + timedelta(hours=1)
    proposal = proposals.propose(note="For an hour", by=edith, expires_at=end)
    Proposal.objects.update(expires_at=timezone.now())
    refusal = reasons(proposals.publish_proposal, proposal_id=proposal.pk, by=pam)
    assert refusal == ["The time at which it ends is over: turn it down."]


def test_it_waits_again_where_who_agreed_may_not_publish_any_more(edith: User, pam: User) -> None:
    change(edith, fees="90 crowns")
    later = timezone.now() + timedelta(days=1)
    proposal = proposals.propose(note="Later", by=edith, publish_at=later)
    proposals.publish_proposal(proposal_id=proposal.pk, by=pam)
    User.objects.filter(pk=pam.pk).update(is_active=False)
    timing.sweep(now=later)
    proposal.refresh_from_db()
    assert (proposal.state, selectors.current_number()) == ("open", 1)
    assert "Pam Pass agreed, but may not" in Comment.objects.get().text


def test_the_first_release_has_no_end(bundle: Bundle) -> None:
    services.import_bundle(bundle=bundle, by=None)
    end = timezone.now() + timedelta(days=1)
    by = person("ed", Role.EDITOR)
    refusal = reasons(proposals.propose, note="x", by=by, expires_at=end)
    assert refusal == ["There is no release to go back to: propose it without an end."]


def test_the_end_of_what_was_taken_back_makes_no_release(edith: User, pam: User) -> None:
    before, end = current().fees, timezone.now() + timedelta(days=1)
    change(edith, fees="90 crowns")
    published(proposals.propose(note="For a day", by=edith, expires_at=end).pk, pam)
    change(edith, fees=before)
    published(proposals.propose(note="Back", by=edith).pk, pam)
    timing.sweep(now=end)
    assert selectors.current_number() == 3
    assert not Proposal.objects.filter(expires_at__isnull=False).exists()


@pytest.mark.parametrize("is_scheduled", [False, True])
def test_it_is_said_that_the_golden_questions_were_asked_without_another_release(
    edith: User, tom: User, pam: User, is_scheduled: bool
) -> None:
    ask_golden()
    later = timezone.now() + timedelta(days=1)
    change(edith, fees="90 crowns")
    first = proposals.propose(note="A", by=edith, publish_at=later if is_scheduled else None)
    change(tom, "tax", "return", fees="5 crowns")
    second = proposals.propose(note="B", by=tom)
    for proposal in (first, second):
        run(proposal, "done")
    if is_scheduled:
        proposals.publish_proposal(proposal_id=first.pk, by=pam)
    published(second.pk, person("pia", Role.PUBLISHER))
    sentence = "The golden questions were asked without release 2."
    page = browser(pam).get(f"/knowledge/proposals/{first.pk}/").content.decode()
    assert ("Asked without release 2, which is current now." in page) is (not is_scheduled)
    if is_scheduled:
        timing.sweep(now=later)
    else:
        proposals.publish_proposal(proposal_id=first.pk, by=pam)
    assert Comment.objects.get().text == sentence
    event = AuditEvent.objects.filter(kind="knowledge.published").latest("seq")
    payload = json.loads(event.payload)
    assert (payload["release"], payload["merged"]) == (3, True)


@pytest.mark.parametrize("is_taken", [False, True])
def test_what_changes_while_the_checks_run_is_looked_at_again(
    edith: User, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    olga = person("olga", Role.EDITOR, "passports")
    change(edith, fees="90 crowns")
    checked = checking.checked

    def slow(*arguments: Any) -> Any:
        if is_taken:
            proposals.take(by=olga, names={("services", "passports renew")})
        else:
            change(edith, processing_time="Two days")
        return checked(*arguments)

    monkeypatch.setattr(checking, "checked", slow)
    refusal = reasons(proposals.propose, note="A fee", by=edith)
    assert refusal == ["Somebody changed it, or published, meanwhile: look at it again."]
    own = sets.working_set(olga if is_taken else edith)
    assert own is not None
    assert sets.parts_of(own).keys() == {("services", "passports renew")}
