"""The OpenID provider ends sessions by a signed token (OpenID Connect Back-Channel Logout 1.0)."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import jwt
import pytest
from django.test import Client

from tests.people.openid_provider import Directory
from tests.people.test_who_changes_whom import events

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib"),
]
URL = "/staff/login/openid/logout/"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


def claims(provider: Directory, **changed: Any) -> dict[str, Any]:
    """What a right logout token says, with changes; None takes a claim out."""
    fields = {
        "iss": provider.address,
        "aud": provider.told["CLIENT_ID"],
        "iat": int(time.time()),
        "exp": int(time.time()) + 120,
        "jti": str(uuid4()),
        "events": {EVENT: {}},
        "sub": "lea",
    }
    return {name: value for name, value in (fields | changed).items() if value is not None}


def send(token: str) -> Any:
    return Client(enforce_csrf_checks=True).post(URL, {"logout_token": token})


def is_in(browser: Client) -> bool:
    return browser.get("/review/").status_code == 200


def entered(provider: Directory, name: str, **token_claims: Any) -> Client:
    provider.person(name, "heads", amr=["mfa"], **token_claims)
    browser = Client()
    provider.enter(browser, name)
    assert is_in(browser)
    return browser


def test_it_ends_a_session_or_all_of_somebody(directory: Directory) -> None:
    first, second, third = (entered(directory, "lea", sid=sid) for sid in ("s1", "s2", "s3"))
    other = entered(directory, "mia", sid="m1")
    answer = send(directory.sign(claims(directory, sub=None, sid="s1")))
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)
    assert [is_in(browser) for browser in (first, second, third, other)] == [False, *[True] * 3]
    assert send(directory.sign(claims(directory, sid="m1"))).status_code == 200
    assert is_in(other), "a session of somebody else"
    assert send(directory.sign(claims(directory))).status_code == 200
    assert [is_in(browser) for browser in (second, third, other)] == [False, False, True]
    assert [(actor, result["why"]) for _, actor, result in events("session_ended")] == [
        ("system", "provider")
    ] * 3


def test_a_wrong_token_ends_nothing(directory: Directory) -> None:
    now, hour = int(time.time()), 3600
    wrong: list[dict[str, Any]] = [
        {"iss": "https://another.example"},
        {"aud": "another"},
        *({"iat": value} for value in (None, now - hour, now + hour)),
        *({"exp": value} for value in (None, now - hour)),
        {"events": None},
        {"events": {"x": {}}},
        {"events": EVENT},
        {"jti": None},
        {"nonce": "n"},  # an ID token
        {"sub": None},
    ]
    browser = entered(directory, "lea")
    for changed in wrong:
        answer = send(directory.sign(claims(directory, **changed)))
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), changed
    assert is_in(browser)


def test_a_token_is_the_providers_and_taken_once(directory: Directory) -> None:
    token = directory.sign(claims(directory))
    browser, headers = entered(directory, "lea"), jwt.get_unverified_header(token)
    for forged in (
        jwt.encode(claims(directory), "", "none", headers | {"alg": "none"}),
        jwt.encode(claims(directory), "s" * 32, "HS256", headers | {"alg": "HS256"}),
        f"{token[:-6]}AAAAAA",
        "no token",
        "",
    ):
        assert send(forged).status_code == 400, forged
    assert is_in(browser)
    assert send(token).status_code == 200
    assert not is_in(browser)
    browser = entered(directory, "lea")
    assert send(token).status_code == 400
    assert is_in(browser)


def test_without_a_provider_there_is_none(client: Client) -> None:
    assert client.post(URL, {"logout_token": "x"}).status_code == 404
