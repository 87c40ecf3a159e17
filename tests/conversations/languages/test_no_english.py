"""No English is left on a citizen's page in another language: every page, every state.

Each is made in English and in every other language, by citizens who write in it. What two say alike
is left over, and so is what the catalogues translate. Content has a language of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse
from django.utils import timezone, translation
from django.views.defaults import bad_request, permission_denied, server_error

from conversations import page_languages
from conversations.models import Choice, MailRequest, Turn
from conversations.turns import languages, running, services
from ieim.people.access import ACCESS, EVERYBODY
from ieim.people.roles import Role
from tests.catalogues import catalogue, gathered
from tests.conversations.languages.reading import texts
from tests.conversations.test_rating import browser_with
from tests.conversations.turns.test_choosing import WIDE
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review.people import person
from tests.selection import sample
from tests.studio.recall.recalling import correct

IBAN = "DE89 3704 0044 0532 0130 00"
BAD = ["no json", "```{}```"]
CRISIS = f"{VISA}, if not I will kill myself"
ENGLISH, *OTHERS = [code for code, _ in settings.LANGUAGES]
OURS = {
    "IEIM",
    "K7M-4QX9",
    f"IEIM {settings.IEIM_VERSION}",
    *(name for _, name in settings.LANGUAGES),
}
"""Names."""


@dataclass
class Citizen:
    """Somebody whose browser is in a language, and who writes in it; ``pages`` is every page."""

    language: str
    ask_and_run: Ask
    pages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.headers = {"Accept-Language": self.language}
        self.browser = browser_with(self.language, headers=self.headers)

    @property
    def turn(self) -> Turn:
        """Their one question."""
        digest = services.secret_digest(self.language)
        return Turn.objects.get(session__secret_sha256=digest)

    def look(self, path: str = "/") -> None:
        self.pages.append(self.browser.get(path).content.decode())

    def post(self, path: str, **form: str) -> None:
        self.pages.append(self.browser.post(path, form).content.decode())

    def send(self, text: str = VISA) -> None:
        services.receive(session=self.language, text=text, enqueue=False)

    def ask(self, text: str = VISA, **script: Sequence[object]) -> None:
        if script:
            with scripted_model(script) as (model, _):
                self.ask_and_run(text, secret=self.language, model=model)
        else:
            self.ask_and_run(text, secret=self.language)
        self.look()


def empty(citizen: Citizen) -> None:
    citizen.look()


def refused(citizen: Citizen) -> None:
    for text in (" ", "x" * 2001, "a\0b"):
        citizen.post("/ask/", text=text)


def working(citizen: Citizen) -> None:
    citizen.send()
    citizen.look()
    citizen.post("/ask/", text=VISA)


def answered(citizen: Citizen) -> None:
    citizen.ask()
    if Choice.objects.filter(turn=citizen.turn).exists():  # nothing is in their language
        citizen.post(f"/turns/{citizen.turn.pk}/choice/", choice="1")
        running.run_turn(turn_id=citizen.turn.pk)
        citizen.look()
    citizen.post(f"/turns/{citizen.turn.pk}/rating/", useful="no")
    citizen.look()


def corrected(citizen: Citizen) -> None:
    answered(citizen)
    correct(citizen.turn, person(f"eve-{citizen.language}", Role.ADMINISTRATOR))
    citizen.look()


def asking(citizen: Citizen) -> None:
    citizen.ask(WIDE)
    citizen.post(f"/turns/{citizen.turn.pk}/choice/", choice="x")
    citizen.post(f"/turns/{citizen.turn.pk}/rating/", useful="x")


def held_turn(citizen: Citizen) -> None:
    citizen.ask(judgement_v1=BAD)


def waiting(citizen: Citizen) -> None:
    citizen.ask(judgement_v1=[503] * 3)


def closed(citizen: Citizen) -> None:
    citizen.send()
    Turn.objects.filter(pk=citizen.turn.pk).update(state="closed")
    citizen.look()


def in_danger(citizen: Citizen) -> None:
    citizen.ask(CRISIS)


def with_a_number(citizen: Citizen) -> None:
    citizen.post("/ask/", text=f"{VISA}, my account is {IBAN}")


def for_a_person(citizen: Citizen) -> None:
    citizen.post("/person/", way="call", call="x")
    citizen.post("/person/", way="page", text=VISA)
    citizen.look()
    citizen.look("/person/")


def by_mail(citizen: Citizen) -> None:
    citizen.ask(judgement_v1=BAD)
    form = f"/turns/{citizen.turn.pk}/mail/"
    citizen.look(form)
    citizen.post(form, address="x")
    for state, address in (("asked", "a@example.org"), ("confirmed", "a@example.org"), *_OVER):
        MailRequest.objects.all().delete()
        mail_request = MailRequest.objects.create(
            turn=citizen.turn,
            session=citizen.turn.session,
            address=address,
            state=state,
            language=citizen.language,
            asked_at=timezone.now(),
            confirm_sha256=services.secret_digest(f"mail-{citizen.language}"),
        )
        citizen.look()
        citizen.look(form)
        citizen.look(f"/mail/mail-{citizen.language}/")
    citizen.look(f"/mail/mail-{citizen.language}/stop/")
    citizen.post(f"/mail/mail-{citizen.language}/stop/")
    stranger = Client(headers=citizen.headers)
    MailRequest.objects.filter(pk=mail_request.pk).update(state="told")
    citizen.pages.append(stranger.get(f"/mail/mail-{citizen.language}/").content.decode())
    citizen.look("/privacy/")


_OVER = [(item, "") for item in ("expired", "refused", "unreachable", "stopped", "told", "closed")]


def addresses(citizen: Citizen) -> None:
    """Every address for everybody that names nothing, before and in a conversation."""
    names = [name for name, who in ACCESS.items() if who == EVERYBODY]
    paths = []
    for name in names:
        if name.startswith("conversations:"):
            with suppress(NoReverseMatch):
                paths.append(reverse(name))
    assert len(paths) > 7
    for path in paths:
        citizen.look(path)
    citizen.send()
    for path in paths:
        citizen.look(path)


def kept_and_deleted(citizen: Citizen) -> None:
    citizen.send()
    citizen.look("/delete/")
    citizen.look(f"/c/{citizen.language}/")
    citizen.post("/delete/")


def errors(citizen: Citizen) -> None:
    citizen.look("/nothing/")
    citizen.look("/ask/")
    strict = Client(enforce_csrf_checks=True, headers=citizen.headers)
    citizen.pages.append(strict.post("/ask/", {"text": VISA}).content.decode())
    request = RequestFactory().get("/")
    with translation.override(citizen.language):
        for page in (
            bad_request(request, ValueError()),
            permission_denied(request, ValueError()),
            server_error(request),
        ):
            citizen.pages.append(page.content.decode())


STATES: tuple[Callable[[Citizen], None], ...] = (
    *(empty, refused, working, answered, corrected, asking, held_turn, waiting, closed, in_danger),
    *(with_a_number, for_a_person, by_mail, addresses, kept_and_deleted, errors),
)


def texts_of(
    state: Callable[[Citizen], None], language: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """Return what a citizen is told in their language."""
    language_code = {"fil": "tl"}.get(language, page_languages.iso_code(language))
    monkeypatch.setattr(languages, "detect", lambda text, release, talk="": language_code)
    citizen = Citizen(language, ask)
    state(citizen)
    codes = {language, page_languages.iso_code(language)}
    return {text for page in citizen.pages for code in codes for text in texts(page, code)}


@cache
def translated() -> re.Pattern[str]:
    """What the catalogues translate, as it stands in a page."""
    sentences = set()
    for message in gathered():
        for whole in [message.id] if isinstance(message.id, str) else message.id:
            for part in re.split(r"<[^>]+>", whole.replace("%%", "%")):
                pieces = re.split(r"\{[a-z_]+\}|%\([a-z_]+\)s", part.strip())
                if any(re.search(r"[^\W\d_]{2}", piece) for piece in pieces):
                    sentences.add(".*".join(map(re.escape, pieces)))
    return re.compile("|".join(sorted(sentences)))


@cache
def same(language: str) -> frozenset[str]:
    """What a language says as English does; another test has the list of these."""
    locale = translation.to_locale(language)
    return frozenset(
        str(message.id) for message in catalogue(locale) if message.id == message.string
    )


@pytest.mark.parametrize("state", sample(STATES, keep=3))
def test_no_english_is_left(
    state: Callable[[Citizen], None], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": "mail.example.org"})
    english = texts_of(state, ENGLISH, ask, monkeypatch)
    assert len(english) > 10
    remaining = {}
    for language in OTHERS:
        result = texts_of(state, language, ask, monkeypatch)
        assert len(result) > 10, language
        over = result & english | {text for text in result if translated().fullmatch(text)}
        own_words = {text for text in over if VISA in text or text == IBAN}
        remaining[language] = over - OURS - same(language) - own_words
    assert {language: over for language, over in remaining.items() if over} == {}
