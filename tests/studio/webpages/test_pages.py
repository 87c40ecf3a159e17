"""The form, the list, REST and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.models import PageRun, WebPage
from ieim.studio.webpages import running
from tests.review.people import browser, person
from tests.studio.api.editing_api import ROOT, Editor
from tests.studio.webpages.site import RENEW, City

pytestmark = pytest.mark.django_db
HOME, LIST = "/knowledge/webpages/", "/knowledge/webpages/pages/"


@pytest.fixture
def desk(eve: User) -> Client:
    return browser(eve)


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def work() -> None:
    running.run_pages(run_id=PageRun.objects.latest("pk").pk)


def test_an_editor_has_pages_read(city: City, desk: Client) -> None:
    form = text(desk.get(HOME))
    assert f"Pages of {city.host}, city.example" in form
    assert "Revenue Service" not in form  # of another agency
    given = {"agency": "passports", "addresses": f"{city.page('/renew')}\n{city.url}/none"}
    listed = desk.post(HOME, given, follow=True)
    assert "being read" in text(listed)
    assert "Pause" in text(listed)
    assert 'hx-select="#runs" hx-select-oob="#begin,#listed"' in text(listed)
    work()
    page = text(desk.get(LIST, headers={"HX-Request": "true"}))
    assert "hx-get" not in page
    assert "Renew a passport" in page[page.index('id="listed"') :]
    assert "There is no such page (404)." in page
    failed = text(desk.get(LIST, {"state": "failed", "agency": "passports"}))
    assert "failed (1)" in failed
    assert "Renew a passport" not in failed


def test_what_is_wrong_is_said_and_nothing_typed_is_lost(city: City, desk: Client) -> None:
    file = SimpleUploadedFile("a.pdf", b"%PDF")
    given = {"agency": "passports", "addresses": "https://evil.example/a", "sitemap": "nonsense"}
    refused = desk.post(HOME, {**given, "files": [file]})
    page = text(refused)
    assert refused.status_code == 422
    assert "evil.example is none of the hosts" in page
    assert "a.pdf: give pages saved as .html" in page
    assert "https://evil.example/a</textarea>" in page
    assert 'value="nonsense"' in page
    assert not PageRun.objects.exists()


def test_saved_pages_are_given_where_no_site_may_be_read(desk: Client, settings: Any) -> None:
    settings.IEIM_PAGE_HOSTS = []
    assert "Saved pages can be." in text(desk.get(HOME))
    file = SimpleUploadedFile("renew.html", RENEW)
    desk.post(HOME, {"agency": "passports", "files": [file]})
    work()
    assert WebPage.objects.get().state == "drafted"


def test_a_run_is_paused_and_gone_on_with(city: City, desk: Client) -> None:
    desk.post(HOME, {"agency": "passports", "addresses": city.page("/renew")})
    run = PageRun.objects.get()
    assert "It stops after this page." in text(
        desk.post(f"{HOME}runs/{run.pk}/pause/", follow=True)
    )
    work()
    assert "1 page waits." in text(desk.get(LIST))
    desk.post(f"{HOME}runs/{run.pk}/resume/")
    work()
    assert WebPage.objects.get().state == "drafted"
    stranger = browser(person("zoe", Role.EDITOR, "tax"))
    assert stranger.post(f"{HOME}runs/{run.pk}/pause/").status_code == 404
    assert "Renew" not in text(stranger.get(LIST))


def test_programs_have_pages_read(city: City, eve: User) -> None:
    program = Editor(eve)
    body = {"agency": "passports", "addresses": [city.page("/renew")]}
    begun = program.send("POST", "webpages/runs/", body)
    assert (begun.status_code, begun.json()["due"]) == (202, 1)
    run = f"webpages/runs/{begun.json()['id']}/"
    assert program.send("POST", f"{run}pause/").json()["is_paused"] is True
    assert program.send("POST", f"{run}resume/").json()["is_paused"] is False
    work()
    assert program.get(run).json()["state"] == "done"
    (listed,) = program.get("webpages/", agency="passports", state="drafted").json()["items"]
    page = program.get(f"webpages/{listed['id']}/").json()
    assert (page["draft"]["by"], "80 crowns" in page["text"]) == ("headings", True)
    assert program.get("webpages/", after=str(listed["id"])).json() == {"items": [], "next": None}
    refused = program.send("POST", "webpages/runs/", {**body, "agency": "tax"})
    assert (refused.status_code, refused.json()["detail"]) == (422, "Choose an agency of the list.")
    files, headers = f"{ROOT}webpages/files/?agency=passports", {"X-CSRFToken": program.csrf}
    for name, kind, status in (
        ("saved.html", "text/html", 202),
        ("saved.pdf", "text/html", 422),
        ("saved.html", "application/pdf", 415),
    ):
        address = f"{files}&name={name}"
        sent = program.http.generic("POST", address, RENEW, content_type=kind, headers=headers)
        assert sent.status_code == status, sent.content
    assert WebPage.objects.filter(address="saved.html", is_due=True).exists()
    stranger = Editor(person("zoe", Role.EDITOR, "tax"))
    assert stranger.get(f"webpages/{listed['id']}/").status_code == 404


@pytest.mark.usefixtures("eve")
def test_the_command_says_what_became_of_each_page(
    city: City, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.html"
    saved.write_bytes(RENEW)
    addresses = [city.page("/renew"), f"{city.url}/none"]
    call_command("read_pages", *addresses, "--agency", "passports", "--file", str(saved))
    assert capsys.readouterr().out.splitlines() == [
        f"drafted\t{city.url}/renew\theadings",
        f"failed\t{city.url}/none\tThere is no such page (404).",
        "drafted\tsaved.html\theadings",
    ]
    with pytest.raises(CommandError, match="1 error; nothing was read"):
        call_command("read_pages", "https://evil.example/", "--agency", "passports")
    assert "evil.example is none of the hosts" in capsys.readouterr().err
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("read_pages", "--agency", "passports", "--file", str(tmp_path / "none.html"))
