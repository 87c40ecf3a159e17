from __future__ import annotations

from typing import Any

import pytest

from ieim.audit.models import AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.studio.drafts.editing import OutOfScope
from ieim.studio.drafts.selectors import draft
from ieim.studio.drafts.services import import_bundle
from ieim.studio.exchange.importing import Moved
from ieim.studio.models import Agency, Category, Change, Service, Translation
from ieim.studio.standards.report import StandardError
from ieim.studio.standards.services import merge, plan
from tests.studio.standards.samples.samples import HSDS, PASSPORTS, RENEW, SCHEMA_ORG, read

KEY = RENEW


@pytest.fixture
def stored(bundle: Bundle, db: None) -> Bundle:
    """A draft with the agencies passports and tax."""
    import_bundle(bundle=bundle, by=None)
    return bundle


def scoped(user: User, agency: str) -> User:
    AgencyScope.objects.create(user=user, agency=agency)
    return user


def service(**values: Any) -> dict[str, Any]:
    """A service of passports as JSON-LD."""
    provider = {"@type": "GovernmentOrganization", "identifier": "passports", "name": "Passports"}
    node = {"@type": "GovernmentService", "identifier": "renew", "name": "Renew a passport"}
    return node | {"@context": "https://schema.org", "provider": provider} | values


def test_it_adds_and_changes_and_removes_nothing(stored: Bundle, editor: User) -> None:
    mapped, _ = read(SCHEMA_ORG)
    imported = merge(mapped=mapped, by=scoped(editor, EVERY_AGENCY))
    assert imported.counts == {
        "agencies": {"added": 1, "changed": 0, "unchanged": 0},
        "dictionary": {"added": 1, "changed": 0, "unchanged": 0},
        "services": {"added": 2, "changed": 0, "unchanged": 0},
        "translations": {"added": 2, "changed": 0, "unchanged": 0},
    }
    assert set(Service.objects.values_list("key", flat=True)) == {"renew", "return", KEY, "lost"}
    assert Category.objects.get(key="Travel").agency_id == PASSPORTS
    assert Translation.objects.get(service="lost").name == "Signaler une perte"
    assert draft().services[-1].key == "lost"


def test_it_leaves_what_the_file_is_silent_about(stored: Bundle, editor: User) -> None:
    file = service(feesAndCommissionsSpecification="90 crowns")
    merge(mapped=read(file)[0], by=scoped(editor, EVERY_AGENCY))
    renew = Service.objects.get(key="renew")
    assert (renew.fees, renew.processing_time, renew.version) == ("90 crowns", "3 weeks", 2)
    assert renew.categories == ["travel"]
    assert Agency.objects.get(pk="passports").description == "Issues passports"


def test_it_writes_history_and_one_audit_event(stored: Bundle, editor: User) -> None:
    before = Change.objects.count(), AuditEvent.objects.count()
    file = service(feesAndCommissionsSpecification="90 crowns")
    merge(mapped=read(file)[0], by=scoped(editor, EVERY_AGENCY))
    changes = Change.objects.all()[: Change.objects.count() - before[0]]
    by_entry = {change.entry: change for change in changes}
    assert by_entry["passports renew"].fields == {"fees": ["80 crowns", "90 crowns"]}
    assert by_entry["passports renew"].source == Change.Source.FILE
    assert by_entry["passports renew"].by == editor
    assert AuditEvent.objects.count() == before[1] + 1
    event = AuditEvent.objects.order_by("-seq").filter(kind="knowledge.merged").get()
    assert event.actor == "staff:edith"


def test_the_same_file_again_changes_nothing(stored: Bundle, editor: User) -> None:
    merge(mapped=read(HSDS)[0], by=None)
    before = Change.objects.count(), AuditEvent.objects.count()
    assert plan(read(HSDS)[0]).entries == []
    merge(mapped=read(HSDS)[0], by=None)
    assert (Change.objects.count(), AuditEvent.objects.count()) == before


def test_it_stops_when_the_draft_is_not_what_was_seen(stored: Bundle, editor: User) -> None:
    scoped(editor, EVERY_AGENCY)
    mapped, _ = read(service(feesAndCommissionsSpecification="90 crowns"))
    fingerprint = plan(mapped).fingerprint
    Service.objects.filter(key="renew").update(fees="85 crowns", version=2)
    with pytest.raises(Moved):
        merge(mapped=mapped, by=editor, expected_fingerprint=fingerprint)
    assert Service.objects.get(key="renew").fees == "85 crowns"
    merge(mapped=mapped, by=editor, expected_fingerprint=plan(mapped).fingerprint)
    assert Service.objects.get(key="renew").fees == "90 crowns"


@pytest.mark.parametrize("agency", ["tax", None])
def test_people_import_into_their_agencies_only(
    stored: Bundle, editor: User, agency: str | None
) -> None:
    if agency:
        scoped(editor, agency)
    mapped, _ = read(service(feesAndCommissionsSpecification="90 crowns"))
    with pytest.raises(OutOfScope):
        merge(mapped=mapped, by=editor)
    assert Service.objects.get(key="renew").fees == "80 crowns"


def test_people_of_one_agency_change_that_one(stored: Bundle, editor: User) -> None:
    mapped, _ = read(HSDS, into="passports")
    merge(mapped=mapped, by=scoped(editor, "passports"))
    assert Service.objects.filter(agency="passports").count() == 3


def test_it_refuses_a_service_of_an_agency_that_nobody_knows(stored: Bundle) -> None:
    file = service(provider={"@id": "https://unknown.example/office"})
    with pytest.raises(StandardError, match="which the file does not describe"):
        plan(read(file)[0])


def test_it_refuses_a_new_agency_without_a_name(db: None) -> None:
    mapped, _ = read(service(provider={"@type": "GovernmentOrganization", "identifier": "x"}))
    with pytest.raises(StandardError, match="name is missing"):
        merge(mapped=mapped, by=None)
    assert not Service.objects.exists()


def page(host: str, path: str, name: str) -> dict[str, Any]:
    """A page as a CMS writes it: everything of the site has the same end of its address."""
    provider = {
        "@type": "GovernmentOrganization",
        "@id": f"https://{host}.example/#organization",
        "name": host,
    }
    node = {"@type": "GovernmentService", "@id": f"https://{host}.example/{path}/#service"}
    service = node | {"name": name, "provider": {"@id": provider["@id"]}}
    return {"@context": "https://schema.org", "@graph": [provider, service]}


def test_pages_of_several_sites_do_not_overwrite_each_other(db: None) -> None:
    pages = [
        page("north", "parking", "Parking permit"),
        page("north", "dogs", "Dog licence"),
        page("south", "bus", "Bus pass"),
    ]
    for result in pages:
        merge(mapped=read(result)[0], by=None)
    assert set(Agency.objects.values_list("name", flat=True)) == {"north", "south"}
    assert {s.name: s.agency.name for s in Service.objects.select_related("agency")} == {
        "Parking permit": "north",
        "Dog licence": "north",
        "Bus pass": "south",
    }
    by_address = page("north", "bins", "Bins")
    by_address["@graph"] = by_address["@graph"][1:]
    by_address["@graph"][0]["provider"] = "https://north.example/#organization"
    merge(mapped=read(by_address)[0], by=None)
    assert Service.objects.get(name="Bins").agency.name == "north"
    together = {"@context": "https://schema.org", "@graph": [n for p in pages for n in p["@graph"]]}
    assert plan(read(together)[0]).entries == []
    assert all(plan(read(result)[0]).entries == [] for result in pages)
