"""Signing in at a real OpenID provider, and what its groups give."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from django.conf import settings
from django.contrib.auth.models import Permission
from django.test import Client

from ieim.people import openid
from ieim.people.models import AgencyScope, User
from tests.people.openid_provider import Directory
from tests.people.test_who_changes_whom import events

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib"),
]


def powers(name: str) -> tuple[list[str], list[str]]:
    user = User.objects.get(username=name)
    roles = user.groups.order_by("name").values_list("name", flat=True)
    return [*roles], [*user.agency_scopes.values_list("agency", flat=True)]


def test_groups_become_roles_and_agencies(directory: Directory, client: Client) -> None:
    fields = {"given_name": "Ada", "family_name": "Byron", "email": "ada@example.org"}
    directory.person("ada", "desk", "passports", "chess club", 7, **fields)
    page = client.get("/staff/login/?next=/review/").content.decode()
    assert 'href="/staff/login/openid/?next=/review/"' in page
    assert "Log in with City login" in page
    answer = directory.enter(client, "ada", to="/review/")
    assert (answer.status_code, answer["Location"]) == (302, "/review/")
    assert client.get("/review/").status_code == 200
    assert powers("ada") == (["caseworker"], ["passports"])
    user = User.objects.get(username="ada")
    assert (user.get_full_name(), user.email) == ("Ada Byron", "ada@example.org")
    assert not user.has_usable_password()
    assert SocialAccount.objects.get(user=user).extra_data == {}
    [(kind, actor, payload)] = events("user")
    assert (kind, actor) == ("people.user_added", "system")
    assert (payload["roles_given"], payload["agencies_given"]) == (["caseworker"], ["passports"])


def test_a_name_from_the_provider_has_no_controls_and_no_marks_of_direction(
    directory: Directory, client: Client
) -> None:
    fields = {"given_name": "Ada\u202e\x00\nEve", "family_name": "\u2067By\u200fron\x9b"}
    directory.person("ada", "desk", **fields)
    assert directory.enter(client, "ada", to="/review/").status_code == 302
    assert User.objects.get(username="ada").get_full_name() == "Ada Eve Byron"


@pytest.mark.parametrize("groups", [(), ("passports",)])
def test_unknown_groups_open_nothing(directory: Directory, client: Client, groups: Any) -> None:
    directory.person("eve", *groups)
    answer = directory.enter(client, "eve")
    assert answer.status_code == 403
    assert "Nothing here is open to you" in answer.content.decode()
    assert client.get("/staff/").status_code == 302
    assert not User.objects.filter(username="eve").exists()
    assert events("log")[-1] == ("people.login_refused", "system", {"user": None, "by": "openid"})


def synchronise(name: str, *groups: str, **claims: Any) -> User | None:
    """What a login of somebody in these groups does to accounts."""
    return openid.synchronise_account(
        f"id of {name}", {"preferred_username": name, "groups": [*groups], **claims}
    )


def test_what_the_provider_no_longer_says_is_taken_away(directory: Directory) -> None:
    synchronise("ben", "desk", "heads", "passports")
    assert powers("ben") == (["caseworker", "supervisor"], ["*", "passports"])
    AgencyScope.objects.create(user=User.objects.get(), agency="given-here")
    synchronise("ben", "desk")
    assert powers("ben") == (["caseworker"], [])
    _, _, payload = events("user")[-1]
    assert payload["roles_taken"] == ["supervisor"]
    assert payload["agencies_taken"] == ["*", "given-here", "passports"]
    before = len(events("user"))
    synchronise("ben", "desk")
    assert len(events("user")) == before, "nothing has changed, and nothing is recorded"
    assert synchronise("ben") is None
    assert powers("ben") == ([], [])
    User.objects.filter(username="ben").update(is_active=False)
    assert synchronise("ben", "desk") is None


def test_groups_that_the_token_only_refers_to_take_no_role(directory: Directory) -> None:
    synchronise("ben", "desk")
    reference = {"preferred_username": "ben", "_claim_names": {"groups": "src1"}}
    with pytest.raises(OAuth2Error, match="Too many groups"):
        openid.synchronise_account("id of ben", reference)
    assert powers("ben") == (["caseworker"], [])


@pytest.mark.parametrize("verified", [True, False])
def test_an_earlier_account_is_found_by_a_verified_address(
    directory: Directory, verified: bool
) -> None:
    old = User.objects.create_user("h.olm", "Holm@example.org", "a password of before")
    synchronise("holm", "desk", email="holm@example.org", email_verified=verified)
    old.refresh_from_db()
    assert (old.groups.count() == 1) is verified
    assert old.has_usable_password() is not verified
    assert User.objects.filter(username="holm").exists() is not verified


def test_an_account_with_more_than_a_group_gives_is_nobodys(directory: Directory) -> None:
    root = User.objects.create_superuser("root", "root@example.org", "old")
    ida = User.objects.create_user("ida", "ida@example.org", "old")
    ida.user_permissions.add(Permission.objects.all()[0])
    for user in (root, ida):
        name = user.username
        synchronise(name, "desk", email=user.email, email_verified=True)
        user.refresh_from_db()
        assert user.check_password("old")
        assert powers(name) == ([], [])
        assert powers(f"{name}-2") == (["caseworker"], [])


def test_an_answer_is_taken_once_and_by_who_has_asked(directory: Directory) -> None:
    directory.person("jon", "desk")
    mine, theirs = Client(), Client()
    sent = mine.get("/staff/login/openid/")
    query = parse_qs(urlsplit(sent["Location"]).query)
    assert {"state", "nonce", "code_challenge"} <= set(query)
    parts = urlsplit(directory.agree(sent["Location"], "jon"))
    back = f"{parts.path}?{parts.query}"
    refused = theirs.get(back)
    assert refused.status_code == 502
    assert "You could not be logged in" in refused.content.decode()
    assert mine.get(back).status_code == 302
    assert mine.get(back).status_code == 502


def test_an_id_token_for_another_question_is_refused(directory: Directory) -> None:
    directory.person("kim", "desk")
    mine = Client()
    sent = mine.get("/staff/login/openid/")["Location"]
    nonce = parse_qs(urlsplit(sent).query)["nonce"][0]
    parts = urlsplit(directory.agree(sent.replace(nonce, "another"), "kim"))
    assert mine.get(f"{parts.path}?{parts.query}").status_code == 502
    assert mine.get("/staff/").status_code == 302


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 302),
        ({"aud": ["{us}", "them"], "azp": "{us}"}, 302),
        ({"aud": ["{us}", "them"]}, 502),
        ({"aud": ["{us}", "them"], "azp": "them"}, 502),
        ({"azp": "them"}, 502),
        ({"aud": "them"}, 502),
        ({"iss": "https://another.example"}, 502),
        ({"sub": None}, 502),
        ({"sub": ""}, 502),
        ({"sub": 7}, 502),
        ({"sub": "x" * 256}, 502),
        ({"exp": None}, 502),
        ({"exp": 1}, 502),
        ({"iat": None}, 502),
        ({"iat": 1}, 502),
        ({"iat": 4_000_000_000}, 502),
        ({"iat": float("nan")}, 502),
    ],
)
def test_an_id_token_is_checked_as_the_standard_says(
    directory: Directory, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], status: int
) -> None:
    us, ask = directory.told["CLIENT_ID"], OAuth2Client.get_access_token

    def forged(*args: Any, **kwargs: Any) -> Any:
        answer = ask(*args, **kwargs)
        claims = jwt.decode(answer["id_token"], options={"verify_signature": False})
        claims |= json.loads(json.dumps(changed).replace("{us}", us))
        claims = {name: value for name, value in claims.items() if value is not None}
        # Of one that comes from the provider itself over TLS nobody checks the signature.
        return answer | {"id_token": jwt.encode(claims, "x" * 32, "HS256")}

    monkeypatch.setattr(OAuth2Client, "get_access_token", forged)
    directory.person("kim", "desk")
    assert directory.enter(Client(), "kim").status_code == status


@pytest.mark.parametrize(
    "wrong",
    [{"CLIENT_SECRET": "wrong"}, {"ISSUER": "http://localhost:1"}],
    ids=["the secret", "nobody there"],
)
def test_a_provider_that_cannot_be_used_is_a_page(
    directory: Directory, client: Client, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    directory.person("lea", "desk")
    monkeypatch.setattr(settings, "IEIM_OPENID", {**directory.told, **wrong})
    answer = client.get("/staff/login/openid/")
    if answer.status_code == 302:
        parts = urlsplit(directory.agree(answer["Location"], "lea"))
        answer = client.get(f"{parts.path}?{parts.query}")
    assert answer.status_code == 502
    cancelled = client.get("/staff/login/openid/callback/?error=access_denied&state=x")
    assert cancelled.status_code == 502


def test_a_provider_that_says_it_is_another_is_not_believed(
    directory: Directory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = directory.address.replace("localhost", "127.0.0.1")
    monkeypatch.setattr(
        "ieim.people.openid.OpenIDConnectOAuth2Adapter.openid_config",
        {"issuer": other, "authorization_endpoint": other, "token_endpoint": other},
    )
    assert client.get("/staff/login/openid/").status_code == 502


def test_who_came_from_there_logs_out_there_too(directory: Directory, client: Client) -> None:
    directory.person("mia", "desk")
    directory.enter(client, "mia")
    for way in ("/staff/logout/", "/admin/logout/"):
        directory.enter(client, "mia")
        page = client.post(way, {"next": "https://evil.example/"})
        assert page.status_code == 200
        assert client.get("/review/").status_code == 302
        assert events("log")[-1][0] == "people.logged_out"
        match = re.search(
            r'<meta http-equiv="refresh" content="0; url=([^"]+)">', page.content.decode()
        )
        assert match, way
        address = unescape(match[1])
        assert "evil" not in address
        query = parse_qs(urlsplit(address).query)
        assert (
            jwt.decode(query["id_token_hint"][0], options={"verify_signature": False})["sub"]
            == "mia"
        )
        theirs = httpx2.get(address)
        assert f"{directory.address}/oauth2/end_session?" in address
        assert "Recommended parameter" not in theirs.text, "the provider misses nothing"
        (back,) = re.findall(r'name="redirect_uri" value="([^"]+)"', theirs.text)
        ended = httpx2.post(
            f"{directory.address}/oauth2/end_session/confirm", data={"redirect_uri": back}
        )
        assert ended.headers["Location"] == "http://testserver/staff/login/"


def test_who_did_not_come_from_there_does_not(directory: Directory, client: Client) -> None:
    User.objects.create_superuser("root", password="old")
    client.post("/staff/login/", {"username": "root", "password": "old"})
    answer = client.post("/staff/logout/", {"next": "https://evil.example/"})
    assert (answer.status_code, answer["Location"]) == (302, "/staff/login/")


@pytest.mark.parametrize("end", [None, "", 7, "javascript:alert(1)"])
def test_a_provider_that_ends_no_sessions_keeps_nobody_here(
    directory: Directory, client: Client, monkeypatch: pytest.MonkeyPatch, end: object
) -> None:
    metadata = httpx2.get(f"{directory.address}/.well-known/openid-configuration").json()
    monkeypatch.setattr(
        "ieim.people.openid.OpenIDConnectOAuth2Adapter.openid_config",
        {**metadata, "end_session_endpoint": end},
    )
    directory.person("noa", "desk")
    directory.enter(client, "noa")
    assert client.get("/review/").status_code == 200
    # Nor does one that is away by now: it is asked nothing.
    monkeypatch.setattr(settings, "IEIM_OPENID", {**directory.told, "ISSUER": "http://localhost:1"})
    answer = client.post("/staff/logout/")
    assert (answer.status_code, answer["Location"]) == (302, "/staff/login/")
    assert client.get("/review/").status_code == 302


def test_passwords_can_be_off(
    directory: Directory, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.create_superuser("root", password="old")
    form = {"username": "root", "password": "old"}
    monkeypatch.setattr(settings, "IEIM_PASSWORDS", False)
    assert 'name="password"' not in client.get("/staff/login/").content.decode()
    assert client.post("/staff/login/", form).status_code == 403
    assert client.get("/staff/").status_code == 302
    monkeypatch.setattr(settings, "IEIM_PASSWORDS", True)
    assert client.post("/staff/login/", form).status_code == 302


def test_without_a_provider_there_is_none(client: Client) -> None:
    assert client.get("/staff/login/openid/").status_code == 404
    assert client.get("/staff/login/openid/callback/").status_code == 404
    assert "openid" not in client.get("/staff/login/").content.decode()


def test_the_admin_leads_to_the_one_door(client: Client) -> None:
    answer = client.get("/admin/people/user/", follow=True)
    assert answer.redirect_chain[-1][0] == "/staff/login/?next=/admin/people/user/"
    User.objects.create_superuser("root", password="old")
    client.post("/admin/login/", {"username": "root", "password": "old"})
    assert client.get("/admin/people/user/").status_code == 302
