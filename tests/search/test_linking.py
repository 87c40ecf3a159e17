"""The services that an entry sends on to: those that it names, and those that editors wrote."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import NO_NEXT, Release, Service
from ieim.search import Search, fuse
from tests.embedders import embedded
from tests.search.test_ranking import real

CHILD = ("health-cover", "health-cover.add-child")


@cache
def demo() -> Release:
    return read_bundle(Path("ieim/knowledge/demo")).release()


@cache
def searched() -> Search:
    return fuse(demo(), embedded())


def linked(index: Search, service: Service) -> list[tuple[str, str]]:
    return [(result.service.key, result.sentence) for result in index.next_services(service)]


@real
def test_a_step_names_a_service_in_other_words_than_its_name() -> None:
    result = linked(searched(), demo().services[CHILD])
    assert ("civil-registry.register-birth", "Wait until the birth is in the civil register.") in (
        result
    )


@real
def test_papers_and_the_first_step_come_before_what_is_handed_on_after() -> None:
    trader = replace(demo().services["business", "business.register-sole-trader"], next_services=())
    before = {
        (service.key, result.service.key): result.before
        for service in (*demo().services.values(), trader)
        for result in searched().next_services(service)
    }
    assert before["health-cover.add-child", "civil-registry.register-birth"]
    assert before["municipal.parking-permit", "municipal.register-address"]
    assert not before["business.register-sole-trader", "revenue.tax-number"]
    assert not before["civil-registry.register-birth", "health-cover.add-child"]  # an editor's


@real
def test_an_entry_never_sends_on_to_itself_and_what_could_be_two_is_neither() -> None:
    for service in demo().services.values():
        assert service.key not in [key for key, _ in linked(searched(), service)]
    # Identity cards are needed everywhere: to get one and to replace one fit as well.
    book = demo().services["vehicles", "vehicles.learner-licence"]
    assert "Your identity card" in book.requirements
    assert all(result != "Your identity card" for _, result in linked(searched(), book))


@real
def test_a_translation_sends_on_to_the_same() -> None:
    french = demo().in_language("fr")
    index = fuse(french, embedded())
    assert linked(index, french.services[CHILD]) == linked(searched(), demo().services[CHILD])


@pytest.mark.parametrize(
    ("refs", "keys"),
    [
        (("passports/passports.renew-passport",), ["passports.renew-passport"]),
        ((NO_NEXT,), []),
    ],
)
@real
def test_what_editors_wrote_stands_instead(refs: tuple[str, ...], keys: list[str]) -> None:
    service = replace(demo().services[CHILD], next_services=refs)
    for index in (searched(), Search(demo())):
        assert [key for key, _ in linked(index, service)] == keys
