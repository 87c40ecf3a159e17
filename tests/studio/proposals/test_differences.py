"""What differs between two releases, and how it is marked."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Agency, Category, Label, Release, Service, Translation
from ieim.studio.proposals.differences import Field, Kind, Piece, differences, marked

BUNDLE = Bundle(
    agencies=(Agency("a", "Office A"), Agency("b", "Office B")),
    dictionary=(Category("a", "k", "Travel", ("passport",)),),
    services=(
        Service("a", "one", "One", fees="10", requirements=("A photo", "A form")),
        Service("a", "two", "Two"),
    ),
    labels=(Label("intents", "ask", "Ask", threshold=Decimal("0.60")),),
    own_labels=True,
    translations=(Translation("fr", "a", service="one", name="Un"),),
)
BEFORE = BUNDLE.release(1)


def changed(**tables: object) -> Release:
    return replace(BUNDLE, **tables).release(2)  # type: ignore[arg-type]


def test_a_release_does_not_differ_from_itself_nor_by_its_order() -> None:
    moved = changed(services=BUNDLE.services[::-1], agencies=BUNDLE.agencies[::-1])
    assert moved.sha256 != BEFORE.sha256
    assert differences(BEFORE, moved) == []


def test_it_names_the_fields_before_and_after() -> None:
    one = replace(BUNDLE.services[0], fees="12", requirements=("A photo",))
    (difference,) = differences(BEFORE, changed(services=(one, BUNDLE.services[1])))
    assert (difference.table, difference.kind, difference.entry) == (
        "services",
        Kind.CHANGED,
        "a one",
    )
    assert (difference.agency, difference.name) == ("a", "One")
    assert difference.fields == (
        Field("requirements", "A photo\nA form", "A photo"),
        Field("fees", "10", "12"),
    )


def test_it_names_what_came_and_what_went_by_table() -> None:
    after = changed(
        agencies=BUNDLE.agencies[:1],
        services=(*BUNDLE.services[:1], Service("a", "new", "New", fees="5")),
        labels=(Label("intents", "ask", "Ask", threshold=None),),
        translations=(),
    )
    difference = differences(BEFORE, after)
    assert [(entry.table, entry.kind.value, entry.entry) for entry in difference] == [
        ("agencies", "removed", "b"),
        ("services", "added", "a new"),
        ("services", "removed", "a two"),
        ("labels", "changed", "intents ask"),
        ("translations", "removed", "fr a one"),
    ]
    assert difference[1].fields == (Field("name", "", "New"), Field("fees", "", "5"))
    assert difference[3].fields == (Field("threshold", "0.60", ""),)
    assert difference[3].agency == ""
    assert {entry.kind for entry in differences(None, BEFORE)} == {Kind.ADDED}
    assert len(differences(None, BEFORE)) == 7


def test_it_marks_the_words_that_changed() -> None:
    before, after = marked("It costs 10 crowns, paid in cash.", "It costs 12 crowns, paid in cash.")
    assert before == [
        Piece("It costs ", False),
        Piece("10", True),
        Piece(" crowns, paid in cash.", False),
    ]
    assert after[1] == Piece("12", True)


def test_it_does_not_weave_unlike_texts_together() -> None:
    assert marked("A b c d e f", "Something else altogether here") == (
        [Piece("A b c d e f", True)],
        [Piece("Something else altogether here", True)],
    )
    assert marked("", "New") == ([], [Piece("New", True)])


TEXTS = st.text("ab é\n.1", max_size=40)


@given(TEXTS, TEXTS)
def test_marked_runs_are_the_texts_and_what_is_unmarked_is_common(before: str, after: str) -> None:
    left, right = marked(before, after)
    assert "".join(piece.text for piece in left) == before
    assert "".join(piece.text for piece in right) == after
    common = ["".join(p.text for p in side if not p.changed) for side in (left, right)]
    assert common[0] == common[1]
