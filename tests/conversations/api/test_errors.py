"""Whatever goes wrong under /api/ is said as problem details."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.models import Session, Turn
from conversations.turns import limits, refusing, services
from tests.conversations.api import integrating
from tests.conversations.api.integrating import JSON, SESSIONS, Integrator, set_rates
from tests.fixtures import VISA

pytestmark = pytest.mark.usefixtures("db", "no_rates")
no_rates = integrating.no_rates


def is_problem(response: Any, status: int) -> dict[str, Any]:
    """Check that a response is problem details with this status; returns them."""
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    body = json.loads(response.content)
    assert isinstance(body, dict)
    assert body["status"] == status
    assert {"type", "title", "detail"} <= body.keys() <= {
        "type", "title", "status", "detail", "errors",
    }  # fmt: skip
    assert all(isinstance(body[name], str) and body[name] for name in ("type", "title", "detail"))
    return body


@pytest.fixture
def client() -> Integrator:
    return Integrator()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/text"),
        ({"text": None}, "/text"),
        ({"text": 7}, "/text"),
        ({"text": True}, "/text"),
        ({"text": [VISA]}, "/text"),
        ({"text": VISA, "client_id": ""}, "/client_id"),
        ({"text": VISA, "client_id": 7}, "/client_id"),
        ({"text": VISA, "client_id": None}, "/client_id"),
        ({"text": VISA, "client_id": "a b"}, "/client_id"),
        ({"text": VISA, "client_id": "a\n"}, "/client_id"),
        ({"text": VISA, "client_id": "é"}, "/client_id"),
        ({"text": VISA, "client_id": "x" * 65}, "/client_id"),
        ({"text": VISA, "clientId": "m-1"}, "/clientId"),
        ({"text": VISA, "a/b": 1}, "/a~1b"),
        ({"text": "a\x00b"}, "/text"),
        ({"text": "a\ud800b"}, "/text"),
    ],
    ids=str,
)
def test_it_points_at_a_field_that_it_cannot_use(
    client: Integrator, published: None, body: Any, pointer: str
) -> None:
    problem = is_problem(client.call("POST", f"{client.path}turns/", body), 400)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert not Turn.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[]",
        b'"visa"',
        b"\xff\xfe",
        b'{"text": "visa"',
        b'{"text": "visa"} x',
        b'{"text": "visa", "text": "tax"}',
        b'{"text": NaN}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b"[" * 10_000,
        '{"text": "visa"}'.encode("utf-16"),
    ],
    ids=lambda body: str(body[:12]),
)
def test_it_takes_nothing_but_one_strict_json_object(
    client: Integrator, published: None, body: bytes
) -> None:
    is_problem(client.call("POST", f"{client.path}turns/", body), 400)
    assert not Turn.objects.exists()


def test_it_passes_over_a_byte_order_mark(client: Integrator, published: None) -> None:
    body = b'\xef\xbb\xbf{"text": "I want to renew my passport"}'
    assert client.call("POST", f"{client.path}turns/", body).status_code == 202
    assert Turn.objects.get().text == "I want to renew my passport"


def test_it_names_an_encoding_that_it_does_not_read(client: Integrator) -> None:
    body = '{"text": "visa"}'.encode("utf-16")
    problem = is_problem(client.call("POST", f"{client.path}turns/", body), 400)
    assert "UTF-16" in problem["detail"]


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(body=st.binary(max_size=60), kind=st.text(st.characters(codec="latin-1"), max_size=20))
def test_it_never_fails_over_a_body(client: Integrator, body: bytes, kind: str) -> None:
    headers = {"Content-Type": f"application/json{kind}".replace("\n", "").replace("\r", "")}
    response = client.call("POST", f"{client.path}turns/", body, **headers)
    assert response.status_code in (400, 415)
    is_problem(response, response.status_code)


def test_it_takes_no_large_body(client: Integrator) -> None:
    is_problem(client.ask("x" * 33_000), 413)


def test_it_takes_a_message_of_the_longest_characters(client: Integrator, published: None) -> None:
    assert client.ask("\U0001f600" * 2000).status_code == 202


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_it_takes_json_only(client: Integrator, kind: str) -> None:
    body = b'{"text": "visa"}'
    is_problem(client.call("POST", f"{client.path}turns/", body, **{"Content-Type": kind}), 415)


def test_it_wants_to_know_a_bodys_length(client: Integrator) -> None:
    headers = {"Transfer-Encoding": "chunked"}
    is_problem(client.call("POST", f"{client.path}turns/", None, **headers), 411)


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer ", "Bearer made-up", "Basic dTpw", "Bearer é", "Bearer \x01"]
)
def test_it_wants_a_token_that_opens_a_session(client: Integrator, value: str) -> None:
    response = client.call("GET", client.path, Authorization=value)
    is_problem(response, 401)
    assert response["WWW-Authenticate"] == "Bearer"


def test_it_does_not_look_at_cookies(client: Integrator) -> None:
    browser = Client()
    browser.post(client.link)
    assert browser.cookies
    is_problem(browser.get(client.path), 401)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/", 404),
        ("GET", "/api/v2/sessions/", 404),
        ("GET", "/api/v1/sessions/no-uuid/", 404),
        ("POST", "/api/v1/sessions", 404),
        ("PUT", "/api/v1/nothing/", 404),
        ("GET", "/api/v1/sessions/", 405),
        ("PUT", "/api/v1/sessions/", 405),
        ("OPTIONS", "/api/v1/sessions/", 405),
        ("TRACE", "/api/v1/sessions/", 405),
        ("BREW", "/api/v1/sessions/", 405),
    ],
)
def test_it_has_no_error_pages(method: str, path: str, status: int) -> None:
    response = Client().generic(method, path, headers={"Accept": "text/html"})
    is_problem(response, status)
    assert status != 405 or response["Allow"] == "POST"


def test_it_says_it_of_what_no_view_sees(no_rates: None) -> None:
    is_problem(Client(headers={"Host": "evil.example.org"}).post(SESSIONS, content_type=JSON), 400)


def test_it_says_it_of_our_own_faults(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("K7M-4QX9 is a secret")

    monkeypatch.setattr(services, "new_session", fail)
    response = Client(raise_request_exception=False).post(SESSIONS, content_type=JSON)
    is_problem(response, 500)
    assert b"K7M" not in response.content
    assert "K7M-4QX9 is a secret" in caplog.text


def test_it_leaves_other_pages_alone() -> None:
    response = Client().get("/nothing/")
    assert (response.status_code, response["Content-Type"][:9]) == (404, "text/html")


def test_it_says_that_nothing_is_published(client: Integrator) -> None:
    problem = is_problem(client.ask(VISA), 503)
    assert problem["type"] == "urn:ieim:problem:not-ready"
    assert problem["detail"] == refusing.NO_RELEASE


def test_it_limits_new_sessions_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, sessions="2/hour")
    spoofed = ({"X-Forwarded-For": f"192.0.2.{n}"} for n in range(3))
    responses = [Client(headers=headers).post(SESSIONS, content_type=JSON) for headers in spoofed]
    assert [response.status_code for response in responses] == [201, 201, 429]
    problem = is_problem(responses[-1], 429)
    assert problem["type"] == "urn:ieim:problem:rate-limit"
    assert int(responses[-1]["Retry-After"]) > 3000
    assert Client(REMOTE_ADDR="192.0.2.9").post(SESSIONS, content_type=JSON).status_code == 201
    assert Session.objects.count() == 3


def test_it_limits_messages_by_session(
    monkeypatch: pytest.MonkeyPatch, published: None, client: Integrator
) -> None:
    set_rates(monkeypatch, turns="2/hour")
    answers = [client.ask(VISA, client_id="m") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 200, 429]
    assert client.get().status_code == 200
    assert Integrator().ask(VISA).status_code == 202


def test_it_goes_on_without_its_cache(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Away:
        def get_or_set(self, *_arguments: Any) -> None:
            raise ConnectionError("the cache is away")

    set_rates(monkeypatch, sessions="1/hour")
    monkeypatch.setattr(limits, "cache", Away())
    assert [Client().post(SESSIONS, content_type=JSON).status_code for _ in range(2)] == [201, 201]
    assert "nothing is limited" in caplog.text
