"""The figures of readings against rows counted by hand, and what one sees of one's own answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from conversations.models import Citation, Feedback, Rating, Reply
from ieim.people.models import User
from ieim.people.roles import Role
from review.metrics.forms import last_days
from review.metrics.selectors import Row
from review.metrics.statistics import alpha, alpha_interval, wilson
from review.models import Decision, Reading, ReviewItem
from review.quality import figures
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import words
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer

QUALITY = "/api/v1/review/quality/"
BODY = {"kind": "answer", "title": "", "lead": "", "sections": [], "sources": []}


def read(
    *verdicts: str,
    by: User | None = None,
    agency: str = "immigration",
    cause: str = "random",
    remark: str = "",
) -> Reply:
    """Insert an answer that one reader after the other has read; ``by`` decided it."""
    reply = Reply.objects.create(
        turn=make_turn(),
        origin="staff" if by else "index",
        body={**BODY, "paragraphs": ["It costs 45."]},
    )
    Citation.objects.create(reply=reply, agency=agency, service="visa", service_sha256="0" * 64)
    item = ReviewItem.objects.create(
        turn=reply.turn, stage="reply", agency=agency, reason="policy.risk", due_at=timezone.now()
    )
    ReviewItem.objects.update(state="decided")
    if by:
        Decision.objects.create(item=item, actor=by, action="write", reason="So it is.")
    for n, verdict in enumerate(verdicts, 1):
        reader, _new = User.objects.get_or_create(username=f"reader {n}")
        Reading.objects.create(
            reply=reply,
            number=n,
            cause=cause,
            reader=reader,
            done_at=timezone.now(),
            verdict=verdict,
            scores=[verdict],
            remark=remark,
        )
    return reply


def share(name: str, part: int, whole: int) -> figures.Share:
    return {"name": name, "part": part, "whole": whole, "interval": wilson(part, whole)}


def loaded(agencies: frozenset[str] | None = None) -> list[Row]:
    return figures.load(last_days(7, timezone.localdate()), agencies)


@pytest.mark.django_db
def test_shares_are_those_of_rows_counted_by_hand() -> None:
    eva = desk.person("eva")
    for verdict in ("right", "right", "right", "incomplete", "wrong"):
        read(verdict, "harmful")  # the first one counts
    for verdict in ("right", "wrong", "harmful", "incomplete", "right", "skipped"):
        read(verdict, by=eva)
    read("wrong", cause="flagged")
    read("wrong", agency="civil-registry")
    result = figures.quality(loaded(), {eva.pk: "Eva"})
    right: Any = result["right"]
    assert right["How it was answered"] == [
        share("The assistant alone", 3, 6),
        share("With a person", 2, 5),
    ]
    few = {"name": "Too few of each", "part": None, "whole": 1, "interval": None}
    assert right["Agency"] == [share("immigration", 5, 10), few]
    assert right["Service"] == [share("immigration/visa", 5, 10), few]
    assert result["reversed"]["Who decided"] == [share("Eva", 2, 5)]
    assert [row["part"] for rows in result["reversed"].values() for row in rows] == [2, 2, 2]
    assert figures.own(eva, last_days(7, timezone.localdate())) == share("", 2, 5)
    assert len(loaded(frozenset({"civil-registry"}))) == 1


@pytest.mark.django_db
def test_agreement_is_of_answers_that_two_have_read() -> None:
    both = [("right", "right")] * 4 + [("wrong", "right"), ("wrong", "wrong")]
    for pair in both:
        read(*pair)
    read("right")
    agreement = figures.quality(loaded(), {})["agreement"]
    assert (agreement["part"], agreement["whole"]) == (5, 6)
    # 12 verdicts, 9 right and 3 wrong: expected 54/132, observed 1/6.
    assert agreement["alpha"] == pytest.approx(1 - (1 / 6) / (54 / 132))


def test_intervals_are_those_of_the_textbook() -> None:
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    # Krippendorff's own example of two observers and binary values (2011, section A).
    first, second = "0100000000", "1110010010"
    pairs: Sequence[tuple[str, str]] = list(zip(first, second, strict=True))
    assert alpha(pairs) == pytest.approx(0.095, abs=1e-3)
    interval = alpha_interval(pairs)
    assert interval is not None
    assert interval[0] < 0.095 < interval[1]
    assert alpha([("a", "a")] * 9) is None


@pytest.mark.usefixtures("published")
def test_a_lead_sees_their_agencies_and_names_an_auditor_no_names() -> None:
    eva = desk.person("eva")
    for _ in range(5):
        read("wrong", by=eva)
    lead, other = (
        person(name, Role.SUPERVISOR, agency)
        for name, agency in (("lead", "immigration"), ("other", "civil-registry"))
    )
    found = Reviewer(lead).get(QUALITY).json()
    assert [row["name"] for row in found["reversed"]["Who decided"]] == ["eva"]
    assert found["reversed"]["Step"][0]["part"] == 5
    assert not any(Reviewer(other).get(QUALITY).json()["right"].values())
    assert Reviewer(lead).get(QUALITY, agency="civil-registry").status_code == 400
    assert Reviewer(eva).get(QUALITY).status_code == 403
    auditor = Reviewer(person("auditor", Role.AUDITOR)).get(QUALITY).json()
    assert auditor["reversed"]["Who decided"] == []
    page = words(browser(lead).get("/review/metrics/").content.decode())
    assert "Wrong Likely between eva 5 5 (100%) 57%–100%" in page
    assert "Too few answers were read by two people" in page


@pytest.mark.usefixtures("published")
def test_ones_own_answers_come_with_what_was_said_and_no_names() -> None:
    eva, ben = desk.person("eva"), desk.person("ben")
    reply = read("wrong", by=eva, remark="It costs 50.")
    Rating.objects.create(reply=reply, useful=False, at=timezone.now())
    Feedback.objects.create(reply=reply, reason="wrong", text="They want 50.", at=timezone.now())
    read("right", by=ben)
    page: Any = browser(eva).get("/review/answers/").content.decode()
    shown = words(page)
    for said in ("It is not right", "They want 50.", "Wrong Wrong: It costs 45.", "It costs 50."):
        assert said in shown
    assert "reader 1" not in shown
    assert Reviewer(eva).get("/api/v1/review/answers/").json() == [
        {
            "turn": str(reply.turn_id),
            "useful": False,
            "reason": "wrong",
            "text": "They want 50.",
            "readings": [
                {
                    "verdict": "wrong",
                    "faults": [{"score": "wrong", "label": "Wrong", "text": "It costs 45."}],
                    "remark": "It costs 50.",
                }
            ],
        }
    ]
