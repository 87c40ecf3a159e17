"""Every sentence of the review's pages is marked for translation: page by page, state by state.

The pages are English for everybody so far, whatever a browser asks for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from conversations.models import Attempt, Session, Turn
from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.findings import Code
from ieim.studio.labels import STAGES
from review.models import Decision, ReviewItem, SavedView
from tests.catalogues import keywords
from tests.conversations.languages import pseudo
from tests.conversations.person.asking import NUMBER
from tests.fixtures import Ask
from tests.review import desk
from tests.review.desk import BAD, REASON, the_item
from tests.review.languages import marks
from tests.review.languages.office import CALL, GAP, QUEUE, RISKY, SCENES, TEXT, Office
from tests.review.people import person

UNCITED = "The reply cites no source."
"""What a finding says exactly is the core's, and stored."""
OURS = {
    *("IEIM", "UTC", "AB", "tl", "scripted", "ieim-offline", "stop", "Eva Eder (eva)"),
    *(REASON, NUMBER, UNCITED, *STAGES, *STAGES.values(), *Code),
}
"""Names and codes. What stages are called stands elsewhere: it is looked at with the editors'."""
MARKS = {*("_", "gettext", "ngettext", "pgettext"), *(m.split(":")[0] for m in keywords().split())}
PEOPLES = {RISKY, GAP, CALL, REASON}
"""What people write beside the messages."""


@cache
def written() -> frozenset[str]:
    """What the service index says."""
    return frozenset(_strings(knowledge.release(1)))


@cache
def topic_keywords() -> frozenset[str]:
    """The keywords of topics: editors' words."""
    return frozenset(", ".join(each.keywords) for each in knowledge.release(1).categories.values())


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple, frozenset)):
        for each in value:
            yield from _strings(each)
    elif is_dataclass(value):
        for each in fields(value):
            if each.name not in ("keywords", "original"):
                yield from _strings(getattr(value, each.name))


def data() -> set[str]:
    """What pages show of people and models, and say in no language of ours."""
    said = {finding["message"] for each in Attempt.objects.all() for finding in each.findings}
    said |= set(Session.objects.values_list("reference", flat=True))
    said |= {user.display_name for user in User.objects.all()}
    return said | {each for each in OURS | written() if len(each) > 1}


@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_left_unmarked(scene: Callable[[Office], None], ask: Ask) -> None:
    office = Office(ask)
    scene(office)
    told = {text: path for path, html in office.seen.items() for text in pseudo.outside(html)}
    people = {*Turn.objects.values_list("text", flat=True), *PEOPLES, *topic_keywords()}
    left = marks.unmarked(told, data(), people)
    assert {text: told[text] for text in left} == {}
    # What is stored is the same in every language.
    for rows in (Decision.objects, AuditEvent.objects, ReviewItem.objects, SavedView.objects):
        assert pseudo.BEGIN not in str(list(rows.values()))


def test_it_would_find_what_is_not_marked() -> None:
    html = (
        '<title>One</title><main><p title="Two">⟦Said <b>by</b> ⟦Ann⟧⟧ three</p>'
        "<code>four</code><input type=submit value=Five><p>Ann</p><p>was</p></main>"
    )
    assert marks.unmarked(pseudo.outside(html), {"Ann"}, {"Bob was here"}) == {
        "One",
        "Two",
        "three",
        "Five",
    }


def test_no_sentence_stands_where_nothing_gathers_it() -> None:
    """Babel reads no calls within an f-string: its sentence would be in no catalogue."""
    hidden = [
        f"{path}:{call.lineno}"
        for folder in ("conversations", "ieim", "review")
        for path in sorted((settings.BASE_DIR / folder).rglob("*.py"))
        for text in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in MARKS
        and isinstance(call.args[0], ast.Constant)
    ]
    assert hidden == []


def test_staff_read_english_whatever_their_browser_asks_for(ask: Ask) -> None:
    item = the_item(desk.ask(TEXT, {"category_select_v1": BAD}))
    chief = person("chief", Role.SUPERVISOR)
    paths = (QUEUE, reverse("review:item", args=[item.pk]), reverse("review:metrics"))

    def read(language: str) -> list[str]:
        client = Client(headers={"Accept-Language": language})
        client.force_login(chief)
        pages = [client.get(path).content.decode() for path in paths]
        return [re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page) for page in pages]

    assert read("fr") == read("en")
    assert all('lang="en-gb"' in page for page in read("ar"))
