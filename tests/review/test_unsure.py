"""What a label's threshold does: it marks the label as unsure, and puts no item off."""

from __future__ import annotations

import pytest
from django.test import Client

from review import facets
from review.facets import Facets
from review.models import NORMAL_RANK
from tests.conversations.turns.triage.test_triage import classified, flag
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk
from tests.review.people import browser, person


@pytest.mark.parametrize(("confidence", "is_shown"), [(0.59, True), (0.6, False)])
def test_a_caseworker_sees_which_label_is_unsure(
    ask: Ask, confidence: float, is_shown: bool
) -> None:
    result = classified(VISA, intents=[flag("extend", "extend", confidence)])
    script: dict[str, list[object]] = {"classify": [result], "service_select_v1": ["no json"] * 2}
    with scripted_model(script) as (model, _):
        turn = ask(VISA, model=model)
    client: Client = browser(person("eva"))
    html = client.get(f"/review/{desk.the_item(turn).pk}/").content.decode()
    assert (f"unsure, confidence {confidence:.2f}" in html) is is_shown


def test_an_unsure_urgency_puts_no_item_off(ask: Ask) -> None:
    turn = ask(VISA)
    ranks = [
        facets.rank(turn, Facets(urgency, (), False, unsure), stage="reply", reasons=[])
        for urgency, unsure in [("low", False), ("low", True), ("high", True)]
    ]
    assert ranks == [4320, NORMAL_RANK, 240]
