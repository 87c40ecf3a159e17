"""A citizen takes their conversation away: all of it, who decided what, and no name of staff."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from conversations.models import Turn
from conversations.turns import running, services
from review.models import Action
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.conversations.turns.test_choosing import WIDE
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates
BAD = ["no json", "no json"]
NAME = "Wilhelmina-Oberländer"


def answered(secret: str) -> Turn:
    """Ask about a visa, let a person write the reply."""
    turn = services.receive(session=secret, text=VISA, enqueue=False)[0]
    with scripted_model({"judgement_v1": BAD}) as (model, _):
        running.run_turn(turn_id=turn.pk, model=model)
    eva = desk.person(NAME)
    text = "Please come to counter 4."
    desk.taken_and_decided(desk.the_item(turn), eva, Action.WRITE, text=text, sources=[])
    return Turn.objects.get(pk=turn.pk)


def saved(path: str, **headers: str) -> Any:
    return Client(headers=headers).get(path)


def test_json_has_every_turn_with_its_source_and_who_decided(ask: Ask) -> None:
    turn = ask(VISA, secret="a")
    response = saved("/c/a/conversation.json")
    content = response.json()
    assert response["Content-Disposition"].startswith("attachment; ")
    assert "no-store" in response["Cache-Control"]
    assert (content["reference"], content["turns"][0]["text"]) == (turn.session.reference, VISA)
    assert "(AI)" in content["notice"]
    reply = content["turns"][0]["reply"]
    assert reply["sources"][0]["service"]
    assert reply["provenance"] == {"model": "ieim-offline", "release": 1, "person": "none"}
    decided = content["turns"][0]["decided"]
    assert {(entry["by"], entry["what"]) for entry in decided} == {("machine", "passed")}
    assert {"judgement_v1", "service_select_v1"} <= {entry["step"] for entry in decided}


def test_what_a_person_decided_is_theirs_without_their_name() -> None:
    answered("a")
    for form in ("json", "html"):
        assert NAME not in saved(f"/c/a/conversation.{form}").content.decode()
    [turn] = saved("/c/a/conversation.json").json()["turns"]
    assert turn["reply"]["provenance"]["person"] == "wrote"
    by_people = [entry for entry in turn["decided"] if entry["by"] == "person"]
    assert [(person["step"], person["what"]) for person in by_people] == [("judgement_v1", "write")]


def test_what_the_citizen_chose_is_theirs(ask: Ask) -> None:
    turn = ask(WIDE, secret="a")
    browser = Client()
    browser.post("/c/a/")
    browser.post(f"/turns/{turn.pk}/choice/", {"choice": "1"})
    [result] = saved("/c/a/conversation.json").json()["turns"]
    assert [entry["what"] for entry in result["decided"] if entry["by"] == "citizen"] == ["chosen"]


def test_who_is_asked_back_is_not_told_of_a_person(ask: Ask) -> None:
    ask(WIDE, secret="a")
    content = saved("/c/a/conversation.html").content.decode()
    assert content.count("Which of these do you mean?") == 2
    assert "passed to a person" not in content
    for option in saved("/c/a/conversation.json").json()["turns"][0]["choice"]["options"]:
        assert option["name"] in content


class Reader(HTMLParser):
    """Notes what a page would load, and whether its elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "link", "iframe") or dict(attrs).get("src"):
            self.loads.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_file_in_the_language_of_the_page(ask: Ask) -> None:
    ask(f"{VISA} <script>alert(1)</script>", secret="a")
    content = saved("/c/a/conversation.html", **{"Accept-Language": "de"}).content.decode()
    reader = Reader()
    reader.feed(content)
    assert (reader.loads, reader.open) == ([], [])
    assert "&lt;script&gt;" in content
    assert "Wer was entschieden hat" in content
    assert 'lang="de"' in content


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_wrong_link_opens_nothing(published: None, form: str) -> None:
    response = saved(f"/c/nobody/conversation.{form}")
    assert response.status_code == 404
    assert "Content-Disposition" not in response


def test_rest_gives_the_same(ask: Ask) -> None:
    client = Integrator()
    client.ask(VISA)
    running.run_turn(turn_id=Turn.objects.get().pk)
    over_rest = client.get(f"{client.path}export/").json()
    page = json.loads(saved(f"{client.link}conversation.json").content)
    for entry in (over_rest, page):
        del entry["exported_at"]
    assert over_rest == page
    assert client.get(f"{client.path}export/html/")["Content-Type"].startswith("text/html")
    stranger = Integrator()
    assert stranger.get(f"{client.path}export/").status_code == 404


def test_who_begins_by_rest_is_told_that_an_ai_answers() -> None:
    headers = {"Accept-Language": "de"}
    response = Client(headers=headers).post(
        "/api/v1/sessions/", b"", content_type="application/json"
    )
    assert "(KI)" in response.json()["notice"]
