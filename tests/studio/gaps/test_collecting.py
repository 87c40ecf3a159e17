"""What the worker makes of turns: which are gaps, their groups, and what a release would do."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.models import Rating, Replacement, ReplyOrigin, Turn
from conversations.turns import erasing
from ieim.knowledge import vectors
from ieim.pipeline.message.risk import Risk
from ieim.search.embedders import CheckedEmbedder
from ieim.studio.gaps import collecting
from ieim.studio.gaps.grouping import Leader, nearest
from ieim.studio.models import Gap, GapGroup
from tests.embedders import IDEAS, Ideas
from tests.fixtures import VISA
from tests.studio.gaps.gapping import (
    AGENCY,
    AWAY,
    OUTSIDE,
    SERVICE,
    asked_back,
    collected,
    rated,
    reply,
    turn,
)

pytestmark = [pytest.mark.usefixtures("published"), pytest.mark.both_databases]


def test_each_question_counts_as_how_it_ended() -> None:
    replaced = reply(turn())
    Replacement.objects.create(turn=replaced, by=reply(turn()))
    endings = {
        "held": turn(state="needs_review"),
        "asked": turn(state="asking"),
        "none": asked_back("none", state="needs_review"),
        "left": asked_back("expired", state="needs_review"),
        "not_useful": rated(),
        "replaced": replaced,
        "staff": reply(turn(), origin=ReplyOrigin.STAFF),
        "outside": reply(turn(), kind="outside"),
        "unsaid": reply(turn(), unsaid=True),
    }
    good = [reply(turn()), rated(useful=True), asked_back("chosen", state="running")]
    assert set(endings) == set(Gap.Outcome.values)
    assert collected(*endings.values(), *good) == [*endings, "", "", ""]


def test_what_happens_later_counts() -> None:
    held, useless = turn(state="needs_review"), rated()
    assert collected(held, useless) == ["held", "not_useful"]
    reply(held, origin=ReplyOrigin.STAFF_OVERRIDE)
    Rating.objects.update(useful=True)
    assert collected(held, useless) == ["staff", ""]


def test_nothing_of_danger_is_read_also_where_it_is_found_late() -> None:
    sign = Risk("self_harm", 0, 1, "hint").as_dict()
    danger, late = turn(state="needs_review", risks=[sign]), turn(state="needs_review")
    assert collected(danger, late) == ["", "held"]
    Turn.objects.filter(pk=late.pk).update(risks=[sign])
    assert collected(danger, late) == ["", ""]
    assert not GapGroup.objects.exists()


def test_no_personal_data_is_stored() -> None:
    collected(turn(f"{VISA}, write to mia@example.org", state="needs_review"))
    assert Gap.objects.get().text == f"{VISA}, write to [EMAIL_1]"


def test_nothing_is_left_of_an_erased_conversation() -> None:
    first, second = turn(state="needs_review"), turn(AWAY, state="needs_review")
    collected(first, second)
    assert GapGroup.objects.get().gaps.count() == 2
    erasing.erase_session(session_id=first.session_id)
    assert Gap.objects.get().turn_id == second.pk
    assert GapGroup.objects.get().release_number is None
    erasing.erase_session(session_id=second.session_id)
    assert collected(first, second) == ["", ""]
    assert not GapGroup.objects.exists()


def test_the_same_meaning_is_one_group_of_its_agency_and_language() -> None:
    texts = [(VISA, "en"), (AWAY, "en"), (VISA, "fr"), (OUTSIDE, "en")]
    collected(*(turn(text, state="needs_review", language=code) for text, code in texts))
    groups = [gap.group_id for gap in Gap.objects.order_by("asked_at")]
    assert groups[0] == groups[1]
    assert len(set(groups)) == 3
    places = GapGroup.objects.order_by("pk").values_list("agency", "language")
    assert list(places) == [(AGENCY, "en"), (AGENCY, "fr"), ("", "en")]
    assert Gap.objects.filter(service=SERVICE).count() == 3


def test_other_words_for_the_same_are_one_group_by_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ideas = CheckedEmbedder(Ideas(), clock=time.monotonic)
    monkeypatch.setattr(vectors, "configured_embedder", lambda: ideas)
    texts = ["extend visa", "stay longer", "stolen passport"]
    collected(*(turn(text, state="needs_review") for text in texts))
    visa, stay, passport = Gap.objects.order_by("asked_at")
    assert (visa.embedder, len(visa.vector)) == (ideas.id, 4 * (len(IDEAS) + 1))
    assert visa.group_id == stay.group_id != passport.group_id


def test_a_question_joins_the_nearest_group_by_words_where_there_are_no_vectors() -> None:
    words = [frozenset({"visa", "extend", "tourist"}), frozenset({"visa", "extend"})]
    leaders = [Leader(pk, "", "", b"", stems) for pk, stems in enumerate(words, 1)]
    assert nearest(Gap(text="extend visa"), leaders) == 2
    assert nearest(Gap(text="register a birth"), leaders) is None
    assert nearest(Gap(text="extend visa"), [leaders[1], leaders[1]]) == 2


def test_it_says_what_the_current_release_would_do() -> None:
    collected(turn(state="needs_review"), turn(OUTSIDE, state="needs_review"))
    answered, outside = GapGroup.objects.order_by("pk")
    assert answered.release_number is not None
    assert (answered.would_answer, answered.would_ask) == (1, 0)
    assert (outside.would_answer, outside.would_ask) == (0, 0)
    # As if another release had been current when it was measured.
    GapGroup.objects.update(release_number=answered.release_number - 1, would_answer=7)
    collected()
    answered, outside = GapGroup.objects.order_by("pk")
    assert (answered.would_answer, outside.would_answer) == (1, 0)
    collected(turn(AWAY, state="needs_review"))
    assert GapGroup.objects.get(agency=AGENCY).would_answer == 2


def test_what_is_too_much_for_one_task_is_left_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(collecting, "BATCH", 2)
    monkeypatch.setattr(collecting, "queue_after_commit", queued.append)
    for _ in range(3):
        turn(state="needs_review")
    collected()
    assert (Gap.objects.count(), queued) == (2, [collecting.COLLECT])
    collected()
    assert (Gap.objects.count(), len(queued)) == (3, 1)


def test_only_what_happened_lately_is_looked_at() -> None:
    useless, long_ago = rated(), timezone.now() - collecting.RECENT - timedelta(hours=1)
    Turn.objects.update(updated_at=long_ago)
    Rating.objects.update(at=long_ago)
    assert collected(useless) == [""]
    Rating.objects.update(at=timezone.now())
    assert collected(useless) == ["not_useful"]


def test_a_look_is_queued_every_few_minutes_and_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(collecting, "queue_after_commit", queued.append)
    for _ in range(2):
        collecting.sweep(at_start=False)
    assert queued == [collecting.COLLECT]
    collecting.sweep(at_start=True)
    assert len(queued) == 2
