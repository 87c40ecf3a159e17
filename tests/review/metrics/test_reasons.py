"""The chart of reasons says them in words, and its words stay within a phone's page."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.utils import timezone

from ieim.people.roles import Role
from review import finding_texts
from review.metrics import charts
from review.services import open_item
from tests.review.conftest import make_turn
from tests.review.people import browser, person


@pytest.mark.django_db
def test_the_bars_say_reasons_in_words() -> None:
    for codes in (["citizen.danger"], ["policy.risk"], ["json.syntax"], ["json.not_object"], []):
        open_item(turn_id=make_turn().pk, stage="reply", codes=codes)
    today = timezone.localdate().isoformat()
    page = browser(person("sue", Role.SUPERVISOR)).get(
        "/review/metrics/", {"from": today, "to": today}
    )
    drawing = page.content.decode().split('id="reasons-desc"')[1].split("</svg>")[0]
    labels = drawing.split("<text")[1:]
    for code in ("citizen.danger", "policy.risk"):
        said = " ".join(finding_texts.sentence(code).split()[:3])
        assert any(said in label and code not in label for label in labels)
    codes = ["json.syntax", "json.not_object"]  # one sentence, told apart
    assert all(any(code in label for label in labels) for code in codes)
    assert any("No reason was noted." in label for label in labels)


def test_the_words_of_a_bar_are_folded_and_none_lies_on_another() -> None:
    drawn = charts.bars(
        "x", "X", "", [(finding_texts.sentence(code), 1) for code in finding_texts.SENTENCES]
    ).bars
    for bar in drawn:
        assert all(len(line) <= charts.LABEL for line in bar.label)
    at = [(bar.y, charts.ROW + charts.LINE * (len(bar.label) - 1)) for bar in drawn]
    assert all(y + height <= below for (y, height), (below, _) in pairwise(at))
