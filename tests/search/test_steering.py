"""How a message steers a talk: read by position and by meaning, in each of the page's languages."""

from __future__ import annotations

from functools import cache

import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Release
from ieim.pipeline.talk import Steered, steer, talk_of
from ieim.search import ReleaseIndex, fuse, inquiry
from ieim.search.embedders import EmbeddedEmbedder
from ieim.search.fusing import FusedIndex
from tests.fixtures import DEMO


@cache
def _demo() -> Release:
    return read_bundle(DEMO).release()


@pytest.fixture(scope="module")
def search() -> FusedIndex:
    return fuse(_demo(), EmbeddedEmbedder(), inquiry.shipped())


def _moves(search: FusedIndex | ReleaseIndex, text: str) -> list[str]:
    return [piece.move for piece in search.pieces(text)]


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("I'd like the third, please", "third"),
        ("ich nehme das zweite", "second"),
        ("je prends la première", "first"),
        ("me quedo con el último", "last"),
        ("أريد الثاني", "second"),
        ("我要第四个", "fourth"),
        ("yung pangatlo po", "third"),
        ("Die andere bitte", "other"),
        ("je veux les deux", "all"),
        ("ya está hecho, ¿qué viene ahora?", "next"),
    ],
)
def test_a_move_is_read_in_every_language(search: FusedIndex, text: str, move: str) -> None:
    assert _moves(search, text) == [move]


@pytest.mark.parametrize("text", ["2", "Nr. 2", "٢", "2."])
def test_a_number_is_a_position_without_an_embedder(text: str) -> None:
    assert _moves(ReleaseIndex(_demo()), text) == ["second"]


@pytest.mark.parametrize(
    "text", ["How much is it?", "Do I need 2 photos?", "Was muss ich mitbringen?"]
)
def test_what_asks_is_no_move(search: FusedIndex, text: str) -> None:
    assert set(_moves(search, text)) <= {""}


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("not child benefit, housing benefit", ["not", ""]),
        ("nicht das Kindergeld, sondern das Wohngeld", ["not", ""]),
        ("not the visa but the passport", ["not", ""]),
    ],
)
def test_what_is_not_meant_is_told_apart(search: FusedIndex, text: str, moves: list[str]) -> None:
    assert _moves(search, text) == moves


@pytest.mark.parametrize(
    ("about", "text", "towards"),
    [
        ("passports.renew-passport", "and the licence?", "vehicles.renew-driving-licence"),
        ("passports.renew-passport", "und für mein Kind?", "passports.child-passport"),
        ("passports.renew-passport", "how much is it?", None),
        ("immigration.apply-tourist-visa", "and to study?", "immigration.apply-student-visa"),
    ],
)
def test_a_message_turns_to_another_service(
    search: FusedIndex, about: str, text: str, towards: str | None
) -> None:
    services = _demo().services
    turned = search.turns_to(text, services[about.split(".")[0], about], frozenset())
    assert (turned and turned.service.key) == towards


@pytest.mark.parametrize(
    ("about", "text", "left"),
    [
        ("vehicles.traffic-fine", "no, I said I do not want to pay. I want to fight it", True),
        ("municipal.noise-complaint", "I rent, does that matter?", True),
        ("immigration.extend-tourist-visa", "no, I mean a student visa", False),
    ],
)
def test_who_reads_the_talk_keeps_its_service_to_choose_unless_it_turns(
    search: FusedIndex, about: str, text: str, left: bool
) -> None:
    agency = about.split(".")[0]
    last = {"role": "assistant", "text": "", "agency": agency, "service": about}
    said = talk_of([{"role": "user", "text": "?"}, last], search, _demo())
    steering = steer(text, said, search, _demo())
    for leads in (False, True):
        found = Steered(search, steering, leads=leads).services(text, agencies=[agency], limit=99)
        assert (about in {each.item.key for each in found}) == (left and not leads)
