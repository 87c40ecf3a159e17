"""One policy for a message, whichever way it comes: by session and by address."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.test import Client

from conversations.chat import cookies
from conversations.chat.wording import words
from conversations.models import Session, Turn
from conversations.turns import limits, services
from ieim.people import addresses
from tests.conversations.api.integrating import Integrator, set_rates
from tests.conversations.chat.tabs import tab, texts
from tests.fixtures import VISA

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

SENTENCE = "Too many questions have come from here in a short time. Please wait 60 minutes"


@pytest.fixture(autouse=True)
def _no_worker(published: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that limits and their cache go by."""
    now = [1_000.0]
    monkeypatch.setattr(limits, "time", lambda: now[0])
    monkeypatch.setattr(limits, "cache", LocMemCache("clock", {}))
    for module in ("base", "locmem"):
        namespace = SimpleNamespace(time=lambda: now[0])
        monkeypatch.setattr(f"django.core.cache.backends.{module}.time", namespace)
    return now


def test_the_form_limits_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="1/hour")
    browser = Client()
    assert browser.post("/ask/", {"text": VISA}).status_code == 303
    refused = browser.post("/ask/", {"text": "Where is my <b>draft</b>?"})
    assert refused.status_code == 429
    assert 3500 < int(refused["Retry-After"]) <= 3600
    html = refused.content.decode()
    assert SENTENCE in html
    assert "Where is my &lt;b&gt;draft&lt;/b&gt;?</textarea>" in html
    assert Turn.objects.count() == 1
    assert Client().post("/ask/", {"text": VISA}).status_code == 303


def test_the_form_limits_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="2/hour")
    forged = ({"X-Forwarded-For": f"198.51.100.{n}"} for n in range(4))
    answers = [Client(headers=headers).post("/ask/", {"text": VISA}) for headers in forged]
    assert [answer.status_code for answer in answers] == [303, 303, 429, 429]
    assert Session.objects.count() == 2
    assert Client(REMOTE_ADDR="192.0.2.9").post("/ask/", {"text": VISA}).status_code == 303


def test_the_networks_of_one_customer_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, sessions="1/hour")
    networks = [f"2001:db8:1:{number:x}::1" for number in range(70)]
    turns = [
        Client(REMOTE_ADDR=peer).post("/api/v1/sessions/", b"", "application/json").status_code
        for peer in networks
    ]
    assert turns == [201] * addresses.WIDE + [429] * (70 - addresses.WIDE)
    assert limits.take("sessions", "2001:db8:2:1::") is None


def test_an_address_is_the_one_that_the_proxy_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="1/hour")
    monkeypatch.setattr(settings, "IEIM_TRUSTED_PROXIES", 1)
    values = ["9.9.9.1, 192.0.2.1", "9.9.9.2, 192.0.2.1", "9.9.9.3, 192.0.2.2"]
    answers = [
        Client(headers={"X-Forwarded-For": name}).post("/ask/", {"text": VISA}) for name in values
    ]
    assert [answer.status_code for answer in answers] == [303, 429, 303]


def test_rest_limits_with_the_same_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="1/hour")
    program = Integrator()
    assert program.ask(VISA).status_code == 202
    refused = program.ask("And the fee?")
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert refused.json()["type"] == "urn:ieim:problem:rate-limit"
    assert refused.json()["detail"].startswith(SENTENCE)
    assert 3500 < int(refused["Retry-After"]) <= 3600


def test_every_way_counts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="2/hour")
    program, browser = Integrator(), Client()
    browser.post(program.link)
    assert program.ask(VISA).status_code == 202
    assert browser.post("/ask/", {"text": "And the fee?"}).status_code == 422  # still working
    assert program.ask("And the fee?").status_code == 429
    assert browser.post("/ask/", {"text": "And the fee?"}).status_code == 429


async def test_the_pages_socket_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="1/hour")
    async with tab("s" * 43) as page, tab("t" * 43) as other:
        await page.send({"text": VISA})
        await page.read_until(VISA)
        await other.send({"text": VISA})
        assert 'role="alert"' in await other.read_until(SENTENCE)
    assert await texts() == [VISA]


def test_it_is_said_in_the_citizens_language(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="1/minute")
    browser = Client()
    browser.post("/ask/", {"text": "Comment puis-je prolonger mon visa de tourisme ?"})
    for text in ("Combien coûte le renouvellement de mon passeport ?", "Et ?", "a\x00b"):
        html = browser.post("/ask/", {"text": text}).content.decode()
        assert re.search(r'lang="fr">Trop de questions ont été envoyées d’ici', html), text


def test_a_wait_is_told_in_seconds_or_minutes() -> None:
    assert "wait 2 seconds," in words("en").too_many(1)
    assert "wait 90 seconds," in words("en").too_many(90)
    assert "wait 2 minutes," in words("en").too_many(91)
    assert "warten Sie 60 Minuten" in words("de").too_many(3600)


def test_a_window_ends(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    set_rates(monkeypatch, turns="2/hour")
    taken = [limits.take("turns", "a") for _ in range(3)]
    assert taken == [None, None, 3600]
    clock[0] += 3599
    assert limits.take("turns", "a") == 1
    clock[0] += 1
    assert limits.take("turns", "a") is None
    assert limits.take("turns", "b") is None


def test_of_many_at_once_no_more_are_taken(
    monkeypatch: pytest.MonkeyPatch, in_threads: Callable[..., list[Any]]
) -> None:
    set_rates(monkeypatch, turns="5/hour")
    taken = in_threads([lambda: limits.take("turns", "a")] * 20)
    assert taken.count(None) == 5


def test_the_cache_knows_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="1/hour")
    keys: list[str] = []
    monkeypatch.setattr(cache, "add", lambda key, *_rest: keys.append(key))
    limits.take("address", "192.0.2.1")
    assert keys
    assert "192.0.2.1" not in keys[0]


def test_a_command_on_this_machine_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="1/hour", turns="1/hour")
    for number in range(3):
        services.receive(session=f"s{number}", text=VISA, enqueue=False)
    assert Turn.objects.count() == 3


def test_over_the_limit_the_cookie_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, address="1/hour")
    browser = Client()
    browser.post("/ask/", {"text": VISA})
    secret = browser.cookies[cookies.NAME].value
    browser.post("/ask/", {"text": VISA})
    assert browser.cookies[cookies.NAME].value.partition(":")[0] == secret.partition(":")[0]
