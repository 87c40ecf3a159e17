"""A text names an agency or service when a person would say that it does."""

from __future__ import annotations

import gc
import time

import pytest

from ieim.pipeline.gate.grounding import named, per_release
from ieim.pipeline.knowledge import Agency, Release, Service

AGENCIES = {
    "immigration": "Immigration and Visa Service",
    "health": "Public Health Fund",
    "labor": "Department of Labor (DOL)",
    "police": "Police",
    "ports": "Harbour Ports Authority",
}
SERVICES = {
    ("immigration", "extend"): "Extend a visa",
    ("immigration", "tourist"): "Extend a visa for tourists",
    ("immigration", "portal"): "Client portal",
    ("health", "portal"): "Client portal",
    ("health", "loans"): "Loans",
    ("police", "port"): "Harbour Ports Authority",
    ("labor", "café"): "Café permit",
}


def make_release() -> Release:
    return Release(
        number=1,
        sha256="",
        agencies={id_: Agency(id_, name) for id_, name in AGENCIES.items()},
        categories={},
        services={key: Service(*key, name) for key, name in SERVICES.items()},
    )


RELEASE = make_release()


def agencies(text: str) -> list[set[str]]:
    return [set(agency.bearers) for agency in named(text, RELEASE).agencies]


def services(text: str) -> list[set[tuple[str, str]]]:
    return [set(service.bearers) for service in named(text, RELEASE).services]


@pytest.mark.parametrize(
    "text",
    [
        "Ask the Immigration and Visa Service.",
        "the immigration  and\nvisa SERVICE's office",
        "Immigration and Vi\u00adsa Ser\u200bvice",
        "Ｉmmigration and Visa Service",
    ],
)
def test_it_finds_an_agency_whatever_the_case_and_space(text: str) -> None:
    assert agencies(text) == [{"immigration"}]


@pytest.mark.parametrize(
    "text",
    [
        "Immigration and Visa Services",
        "xImmigration and Visa Service",
        "Visa Service",
        "Immigration and Visa Service\ufe20",
    ],
)
def test_it_counts_whole_names_only(text: str) -> None:
    assert agencies(text) == []


def test_it_gives_code_point_offsets() -> None:
    text = "🙂  You can extend  a visa."
    (service,) = named(text, RELEASE).services
    assert text[service.start : service.end] == "extend  a visa"


def test_it_composes_accents_but_keeps_them() -> None:
    assert services("a cafe\u0301 permit") == [{("labor", "café")}]
    assert services("a cafe permit") == []


def test_it_lets_the_longest_name_win() -> None:
    assert services("Extend a visa for tourists") == [{("immigration", "tourist")}]
    assert services("Extend a visa for tourists, or extend a visa") == [
        {("immigration", "tourist")},
        {("immigration", "extend")},
    ]


def test_it_gives_every_bearer_of_a_shared_name() -> None:
    assert services("the client portal") == [{("immigration", "portal"), ("health", "portal")}]


def test_it_counts_one_word_in_exact_case_and_beside_its_agency() -> None:
    assert services("Loans") == []
    assert services("Loans of the Public Health Fund") == [{("health", "loans")}]
    assert services("loans of the Public Health Fund") == []
    assert services("Loans of the Immigration and Visa Service") == []
    assert agencies("the police") == []
    assert agencies("the Police") == [{"police"}]


def test_it_knows_an_agency_without_its_short_form() -> None:
    assert agencies("the Department of Labor") == [{"labor"}]
    assert agencies("the Department of Labor (DOL)") == [{"labor"}]


def test_it_takes_a_name_of_both_for_the_agency() -> None:
    result = named("Harbour Ports Authority", RELEASE)
    assert [set(agency.bearers) for agency in result.agencies] == [{"ports", "police"}]
    assert result.services == ()


def test_it_keeps_what_it_built_for_one_release_object() -> None:
    built = []

    @per_release
    def build(release: Release) -> int:
        built.append(release.number)
        return len(built)

    one, other = make_release(), make_release()
    assert (build(one), build(one), build(other)) == (1, 1, 2)
    del one
    gc.collect()
    assert build(make_release()) == 3
    assert build(other) == 2


def test_it_is_fast_over_a_large_release() -> None:
    release = Release(
        1,
        "",
        {"a": Agency("a", "Agency of Everything")},
        {},
        {
            ("a", str(n)): Service("a", str(n), f"Application for permit number {n}")
            for n in range(5500)
        },
    )
    text = "Make an application for permit number 77 and an application for permits. " * 27
    named("warm up", release)
    started = time.perf_counter()
    result = named(text, release)
    assert time.perf_counter() - started < 0.5
    assert {key for service in result.services for key in service.bearers} == {("a", "77")}


def test_it_takes_linear_time_over_repeated_beginnings() -> None:
    started = time.perf_counter()
    named("extend a visa for " * 3400, RELEASE)
    assert time.perf_counter() - started < 10
