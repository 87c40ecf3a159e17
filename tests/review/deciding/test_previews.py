"""What the page says of a decision before it is taken: the heading and the sentences agree."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.urls import reverse

from ieim.knowledge import selectors as knowledge
from review.models import Action, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, REASON, the_item
from tests.review.people import browser

pytestmark = pytest.mark.usefixtures("published")


def looked_at(item: ReviewItem, action: Action, **values: str) -> str:
    """Return the words of the page that "See what happens" leads to."""
    user = desk.person("eva", *desk.ALL)
    item = desk.take(item, user)
    address = reverse("review:preview", args=[item.pk])
    draft = {"version": str(item.version), "action": action.value, "reason": REASON, **values}
    html = browser(user).post(address, draft).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_it_names_the_agency_that_gets_the_item() -> None:
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    name = knowledge.release(1).agencies["revenue"].name
    said = looked_at(item, Action.HAND_OVER, **{"hand-agency": "revenue"})
    assert f"The item goes to the queue of {name}. The citizen is told nothing yet." in said
    assert "The citizen sees nothing new yet" in said
