"""Staff's pages are in English for everybody; every sentence stands where Babel reads it."""

from __future__ import annotations

import ast
import re

from django.conf import settings
from django.test import Client
from django.urls import reverse

from ieim.people.roles import Role
from tests.catalogues import keywords
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.desk import BAD, the_item
from tests.review.people import person

MARKS = {*("_", "gettext", "ngettext", "pgettext"), *(m.split(":")[0] for m in keywords().split())}


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
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    chief = person("chief", Role.SUPERVISOR)
    paths = [reverse("review:queue"), reverse("review:metrics")]
    paths.append(reverse("review:item", args=[item.pk]))

    def read(language: str) -> list[str]:
        client = Client(headers={"Accept-Language": language})
        client.force_login(chief)
        pages = [client.get(path).content.decode() for path in paths]
        return [re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page) for page in pages]

    assert read("fr") == read("en")
    assert all('lang="en-gb"' in page for page in read("ar"))
