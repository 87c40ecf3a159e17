"""The page for who has no connection, and the worker that keeps it."""

from __future__ import annotations

import json
import re
from typing import Any

from django.test import Client

from tests.administration.setting import put


def worker(**headers: str) -> tuple[str, dict[str, Any]]:
    """The script, and what it keeps."""
    response = Client(headers=headers).get("/worker.js")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/javascript")
    assert "no-store" in response["Cache-Control"]
    script = response.content.decode()
    match = re.search(r"^const content = (\{.*\});$", script, re.MULTILINE)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return script, data


def test_the_worker_keeps_a_page_whose_parts_are_there(published: None) -> None:
    _, result = worker()
    html = Client().get(result["page"]).content.decode()
    assert "No connection" in html
    assert "If a life is in danger" in html
    assert "112" in html
    assert any("citizen" in part for part in result["parts"])
    assert any("connection" in part for part in result["parts"])
    assert all(part in html for part in result["parts"])


def test_it_stands_in_for_citizens_pages_only(published: None) -> None:
    _, result = worker()
    assert "/" in result["places"]
    assert not any(
        path.startswith(("/review", "/knowledge", "/admin", "/staff", "/c/", "/api"))
        for path in result["places"]
    )
    for path in result["places"]:
        assert Client().get(path).status_code == 200


def test_a_browser_that_comes_again_has_nothing_new_to_keep(published: None) -> None:
    assert worker() == worker()


def test_another_language_and_other_settings_are_kept_anew(published: None) -> None:
    script, result = worker()
    german = worker(**{"Accept-Language": "de"})[0]
    put("numbers", emergency="555")
    changed, _ = worker()
    assert len({script, german, changed}) == 3
    html = Client(headers={"Accept-Language": "ar"}).get(result["page"]).content.decode()
    assert 'dir="rtl"' in html


def test_nothing_of_a_conversation_is_kept(published: None) -> None:
    page = Client().get("/offline/")
    assert not page.cookies
    assert not Client().get("/worker.js").cookies
