"""Nothing that staff read is left unmarked: their pages, in a language that nobody speaks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Session
from ieim.administration.languages import NAMES
from ieim.knowledge.notices import services as notices
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import sets
from ieim.studio.editor.addresses import NAMES as PAGED
from ieim.studio.models import DRAFT_MODELS, Category, GoldenQuestion, Service
from ieim.studio.proposals import services as proposals
from tests.conversations.languages.pseudo import pseudo_language, unmarked
from tests.fixtures import VISA, Ask
from tests.review.people import browser, editor_and_publisher, person
from tests.studio.recall.recalling import IMMIGRATION, WRONG, correct, key_of, publish_fee
from tests.studio.trying.trying import NOTHING_ANSWERS, SMALL_TALK, keep, run, visa

pytestmark = pytest.mark.usefixtures("published")


CLOSED = "Closed this week."
NOT_OURS = {"IEIM", "Search", "True", "csv", "json", "xlsx", "yaml"}
"""Names, what Django's own pages of the admin say in English only, and kinds of files."""


def words_of(value: object) -> Iterator[str]:
    """What people wrote into a column."""
    if isinstance(value, str):
        yield from filter(None, (line.strip() for line in (value, *value.splitlines())))
    elif isinstance(value, list):
        for entry in value:
            yield from words_of(entry)


def content() -> set[str]:
    """Everything that stands in the draft, and what people are called."""
    values = {*NOT_OURS, WRONG, CLOSED}
    for model in DRAFT_MODELS.values():
        for row in model._default_manager.values():
            values |= {text for value in row.values() for text in words_of(value)}
    values |= {str(session) for session in Session.objects.values_list("reference", flat=True)}
    for user in User.objects.all():
        values |= {user.display_name, user.username, user.first_name}
    # The admin cuts what an entry is called after so many words.
    return values | set(NAMES.values()) | {" ".join(text.split()[:18]) for text in values}


def left(browser: Client, pages: dict[str, Any]) -> dict[str, set[str]]:
    """What each page says unmarked: posted where there is a form, else looked at."""
    result, data = {}, content()
    with pseudo_language():
        for path, form in pages.items():
            page = browser.get(path) if form is None else browser.post(path.split("#")[0], form)
            assert page.status_code in (200, 409, 422), (path, page.status_code)
            html = page.content.decode()
            assert "⟦" in html, path
            result[path] = unmarked(html, data)
    return {path: texts for path, texts in result.items() if texts}


def test_knowledge(ask: Ask) -> None:
    edith = editor_and_publisher("edith", name="Edith Ek")
    paul = editor_and_publisher("paul", name="Paul Peck")
    turn = ask(VISA)
    correct(turn, edith)
    publish_fee(key_of(turn), "MRK 77.00")
    result = keep(edith)
    keep(edith, id="s", **SMALL_TALK)
    keep(edith, id="n", **NOTHING_ANSWERS)
    Service.objects.filter(pk=visa().pk).update(fees="MRK 99.00", name="Gone", categories=[])
    proposal = proposals.propose(note="Why", by=paul)
    run(proposal, edith)
    now = timezone.now()
    for begin in (None, now + timedelta(hours=1)):
        notices.add(
            agency=IMMIGRATION,
            text=CLOSED,
            starts_at=begin,
            ends_at=now + timedelta(hours=2),
            by=edith,
        )
    over = notices.add(
        agency="", text=CLOSED, starts_at=None, ends_at=now + timedelta(hours=1), by=edith
    )
    notices.end(directive_id=over.pk, by=edith)
    own = sets.working_set(edith) or sets.begin(edith)
    service = f"?agency={IMMIGRATION}&service={key_of(turn)}"
    of = f"?agency={IMMIGRATION}&key={key_of(turn)}"
    category = f"?agency={IMMIGRATION}&category=visa-extensions"
    assert Category.objects.filter(key="visa-extensions").exists()
    assert GoldenQuestion.objects.exists()
    pages: dict[str, Any] = dict.fromkeys(
        (
            "/knowledge/",
            "/knowledge/checks/",
            "/knowledge/checks/summary/",
            "/knowledge/services/?q=visa",
            reverse("editor:service", args=[IMMIGRATION, key_of(turn)]),
            reverse("editor:agency", args=[IMMIGRATION]),
            reverse("editor:new_situation"),
            reverse("editor:delete_service", args=[IMMIGRATION, key_of(turn)]),
            f"/knowledge/dictionary/?agency={IMMIGRATION}",
            f"/knowledge/dictionary/merge/{category}&into=citizenship",
            f"/knowledge/dictionary/split/{category}",
            "/knowledge/differences/",
            "/knowledge/differences/?from=1&to=2",
            "/knowledge/releases/",
            "/knowledge/releases/1/",
            f"/knowledge/releases/1/service/{of}",
            "/knowledge/releases/1/again/",
            f"/knowledge/proposals/{own.pk}/",
            f"/knowledge/proposals/{proposal.pk}/",
            "/knowledge/try/",
            "/knowledge/try/questions/",
            reverse("trying:question_add"),
            reverse("trying:question_remove", args=[result]),
            reverse("trying:golden", args=[proposal.pk]),
            reverse("recall:home") + "?q=visa",
            reverse("recall:home") + service,
            reverse("notices:notices"),
            reverse("notices:add"),
            reverse("standards:upload"),
        )
    )
    form = {"agency": IMMIGRATION, "service": key_of(turn), "version": "every"}
    pages |= {
        reverse("notices:add") + "#": {"ends_at": "x", "text": ""},
        reverse("editor:service", args=[IMMIGRATION, key_of(turn)]) + "#": {
            "fees": "12,50 Zorkmids",
            "contact": "x(at)y",
        },
        reverse("trying:playground") + "#": {"text": VISA},
        reverse("trying:playground") + "#empty": {"text": ""},
        reverse("trying:question_add") + "#": {"text": VISA, "find": "1"},
        reverse("trying:question_add") + "#keep": {"text": VISA, "keep": "1"},
        reverse("recall:correct") + "#empty": {**form, "text": ""},
        reverse("recall:correct") + "#text": {**form, "text": WRONG},
        reverse("knowledge:propose") + "#": {"text": ""},
        reverse("knowledge:again", args=[1]) + "#": {"text": ""},
        reverse("knowledge:publish", args=[proposal.pk]) + "#": {"text": ""},
        reverse("standards:upload") + "#": {
            "file": SimpleUploadedFile("x.json", b"{}"),
            "agency": "",
        },
    }
    assert left(browser(edith), pages) == {}


def test_the_admin_of_the_draft() -> None:
    edith = browser(editor_and_publisher("edith", name="Edith Ek"))
    pages: dict[str, Any] = {}
    for model in DRAFT_MODELS.values():
        name = f"admin:studio_{model._meta.model_name}"
        first = model._default_manager.first()
        # What has a page of its own is neither added, changed nor deleted in the admin.
        is_paged = model.table in PAGED
        pages |= {reverse(f"{name}_{page}"): None for page in ("changelist", "import")}
        if not is_paged:
            pages[reverse(f"{name}_add")] = None
        if first is not None:
            for page in ("history",) if is_paged else ("change", "history", "delete"):
                pages[reverse(f"{name}_{page}", args=[first.pk])] = None
    pages["/admin/"] = None
    assert left(edith, pages) == {}


def test_settings_and_accounts() -> None:
    ada = browser(person("ada", Role.ADMINISTRATOR, name="Ada Admin"))
    wrong = {"telephone": "x", "email": "x", "website": "x", "version": "0"}
    pages = {
        "/settings/": None,
        "/settings/contacts/": wrong,
        "/settings/contacts/preview/": {"version": "0"},
        "/settings/name/": {"version": "7", "name": "X"},
    }
    assert left(ada, pages) == {}
    assert left(Client(), {"/staff/login/": None, "/staff/login/#": {"username": ""}}) == {}
