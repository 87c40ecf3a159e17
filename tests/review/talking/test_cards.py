"""What a caseworker sends beside their words: cards of services, and what is checked first."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from conversations.models import Line, PersonRequest
from conversations.turns import languages
from ieim.audit.comparing import second_look
from ieim.people.models import User
from review import talking
from review.deciding import texts
from review.models import ReviewItem
from tests.conversations.person.asking import item_of
from tests.review.item.test_outdated import CHANGED, NAME, SOURCES, change, withdraw
from tests.review.reviewing import Reviewer, path_of
from tests.review.talking.test_pages import address, browser, desk_of, eva, request_

__all__ = ["eva", "request_"]
VISA_CARD = "/immigration/immigration.extend-tourist-visa"


@pytest.fixture
def item(request_: PersonRequest, eva: User) -> ReviewItem:
    opened = item_of(request_)
    desk_of(eva).post(address("talk_begin", opened))
    return opened


def say(eva: User, item: ReviewItem, text: str, **form: Any) -> Any:
    return desk_of(eva).post(address("talk_say", item), {"text": text, **form})


def test_a_service_is_found_and_sent_as_a_card_that_both_see_and_the_record_holds(
    item: ReviewItem, eva: User
) -> None:
    found = say(eva, item, "Hello.", again="search", **{"card-words": "extend tourist visa"})
    assert found.status_code == 200
    assert f'value="{VISA_CARD}"' in found.content.decode()
    assert "Hello.</textarea>" in found.content.decode()
    assert not Line.objects.filter(kind="said").exists()

    assert say(eva, item, "This is the one.", card=VISA_CARD).status_code == 303
    line = Line.objects.get(kind="said")
    assert line.cards is not None
    (source,) = line.cards["reply"]["sources"]
    assert source["service_key"] == "immigration.extend-tourist-visa"
    for page in (browser("a").get("/"), desk_of(eva).get(address("talk", item))):
        said = page.content.decode().partition("This is the one.")[2]
        assert re.search(r'answer__card-title"[^>]*>Extend a tourist visa<', said)
        assert "MRK 45.00" in said
    assert second_look(line.session_id) == []
    Line.objects.update(cards=None)
    assert second_look(line.session_id) != []


def test_a_service_that_is_in_no_list_is_refused(item: ReviewItem, eva: User) -> None:
    for wrong in ("/immigration/none", "x"):
        assert say(eva, item, "This one.", card=wrong).status_code == 422
    assert not Line.objects.filter(kind="said").exists()


def test_a_card_of_a_service_that_was_withdrawn_since_is_refused(
    item: ReviewItem, eva: User
) -> None:
    withdraw()
    with pytest.raises(talking.CannotTalk, match=f"any more: {NAME}"):
        talking.say(item_id=item.pk, actor=eva, text="This one.", services=SOURCES)


def test_a_card_of_a_service_that_has_changed_since_is_sent_at_the_second_press(
    item: ReviewItem, eva: User
) -> None:
    change()
    warned = say(eva, item, "This one.", card=VISA_CARD)
    seen = [
        unescape(s) for s in re.findall(r'name="seen" value="([^"]+)"', warned.content.decode())
    ]
    assert (warned.status_code, seen) == (422, [CHANGED])
    assert say(eva, item, "This one.", card=VISA_CARD, seen=seen).status_code == 303


def test_amounts_and_dates_that_no_source_gives_are_sent_at_the_second_press(
    item: ReviewItem, eva: User
) -> None:
    assert say(eva, item, "It costs MRK 45.00.").status_code == 303
    text = "It costs MRK 45.00, or MRK 17.31 until 3 May 2031."
    warned = say(eva, item, text)
    page = warned.content.decode()
    assert warned.status_code == 422
    seen = re.findall(r'name="seen" value="([^"]+)"', page)
    assert seen == ["MRK 17.31", "3 May 2031"]
    assert text in page
    assert say(eva, item, f"{text} MRK 99.99", seen=seen).status_code == 422
    assert say(eva, item, text, seen=seen).status_code == 303
    long = say(eva, item, f"{'x ' * texts.MAX_TEXT}{text}", again="1").content.decode()
    assert 'name="seen"' not in long, "no more of a text is checked than can be sent"
    live = say(eva, item, text, again="1").content.decode()
    assert re.findall(r'name="seen" value="([^"]+)"', live) == seen


def test_addresses_are_links_and_nothing_else_is(item: ReviewItem, eva: User) -> None:
    url = languages.release_of(item.turn).services["immigration", "immigration.extend-tourist-visa"]
    text = f"See {url.url} or desk@visas.example, +1 202 555 0143. <b>x</b>"
    assert say(eva, item, text).status_code == 303
    page = browser("a").get("/").content.decode().partition("line__text")[2].partition("</p>")[0]
    links = re.findall(r'href="([^"]+)"( rel="noopener nofollow")?', page)
    assert links == [
        (url.url, ' rel="noopener nofollow"'),
        ("mailto:desk@visas.example", ""),
        ("tel:+12025550143", ""),
    ]
    assert "&lt;b&gt;x&lt;/b&gt;" in page


def test_programs_send_cards_and_are_warned_too(item: ReviewItem, eva: User) -> None:
    reviewer, path = Reviewer(eva), f"{path_of(item)}messages/"
    agency, service = VISA_CARD[1:].split("/")
    body = {"text": "It costs MRK 17.31.", "services": [{"agency": agency, "service": service}]}
    refused = reviewer.post(path, body)
    assert (refused.status_code, "MRK 17.31" in refused.json()["detail"]) == (422, True)
    assert reviewer.post(path, {**body, "seen": ["MRK 17.31"]}).status_code == 201
