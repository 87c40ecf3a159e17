"""What a person writes to the citizen: their own words, links of the release only."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Reply, Turn
from review import deciding
from review.deciding import Action, Refused
from tests.fixtures import VISA
from tests.review import desk
from tests.review.deciding.test_deciding import AGENCY, SERVICE, reply_of
from tests.review.desk import BAD, taken_and_decided, the_item

pytestmark = pytest.mark.usefixtures("published")


def test_it_sends_what_a_person_writes_with_its_sources() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    text = "Bring flowers to our office.\n\nIt costs EUR 999."
    payload = {"text": text, "sources": [{"agency": AGENCY, "service": SERVICE}]}
    seen = deciding.preview(
        item_id=the_item(turn).pk, actor=eva, action=Action.WRITE, payload=payload
    )
    assert [finding.code.value for finding in seen.warnings] == [
        "reply.ungrounded",
        "reply.unsupported",
        "reply.unsupported",
    ]
    assert "'Bring flowers to our office.' (characters 0 to 28)" in seen.warnings[1].message
    assert seen.findings == ()
    taken_and_decided(the_item(turn), eva, Action.WRITE, **payload)
    reply = reply_of(turn)
    assert (reply.origin, reply.body["kind"]) == ("staff", "answer")
    assert reply.body["paragraphs"] == ["Bring flowers to our office.", "It costs EUR 999."]
    assert reply.body["sources"][0]["service_key"] == SERVICE
    assert Turn.objects.get(pk=turn.pk).state == "answered"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no text"),
        (" \n", "no text"),
        ("...", "nothing to read"),
        ("x" * 4001, "4,001 characters"),
        ("Dear {service_name}", "not filled in"),
        ("See https://evil.example/now", "evil.example"),
        ("See [here](https://evil.example)", "evil.example"),
        ("nul \0", "character"),
        ("half \ud800", "character"),
    ],
)
def test_it_sends_no_text_that_a_citizen_should_not_get(text: str, told: str) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    with pytest.raises(Refused, match=told):
        desk.decide(item, eva, Action.WRITE, text=text, sources=[])
    assert not Reply.objects.exists()


@pytest.mark.parametrize(
    "sources", [None, "x", [1], [{"agency": 1}], [{"agency": "a", "service": "b"}]]
)
def test_it_cites_only_what_is_in_the_release(sources: Any) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    with pytest.raises(Refused, match="source"):
        desk.decide(item, eva, Action.WRITE, text="Please write to us.", sources=sources)
