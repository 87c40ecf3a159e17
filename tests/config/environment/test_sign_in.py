"""How staff sign in, as the settings say it, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from ieim.config import sign_in
from ieim.config.env import Env

ISSUER = "https://login.example.org/realms/city/"
GROUPS = {"desk": {"roles": ["caseworker"], "agencies": ["passports"]}, "heads": {"agencies": []}}
PROVIDER = {
    "IEIM_OPENID_ISSUER": ISSUER,
    "IEIM_OPENID_CLIENT_ID": "ieim",
    "IEIM_OPENID_CLIENT_SECRET": "s",
    "IEIM_OPENID_GROUPS": json.dumps(GROUPS),
}


def read(more: dict[str, str], *, production: bool = True) -> dict[str, Any]:
    env = Env({**PROVIDER, **more})
    found = sign_in.openid(env, production=production)
    sign_in.passwords(env, issuer=found["ISSUER"])
    env.check()
    return found


def test_it_reads_a_provider() -> None:
    found = read({"IEIM_PASSWORDS": "false"})
    assert found["ISSUER"] == ISSUER.rstrip("/")
    assert found["GROUPS"] == {
        "desk": {"roles": frozenset({"caseworker"}), "agencies": frozenset({"passports"})},
        "heads": {"roles": frozenset(), "agencies": frozenset()},
    }


def test_none_is_needed() -> None:
    assert read(dict.fromkeys(PROVIDER, ""))["ISSUER"] == ""


@pytest.mark.parametrize(
    ("set_to", "said"),
    [
        ({"IEIM_OPENID_ISSUER": "http://login.example.org"}, "IEIM_OPENID_ISSUER is 'http:"),
        ({"IEIM_OPENID_CLIENT_ID": ""}, "IEIM_OPENID_CLIENT_ID is not set"),
        ({"IEIM_OPENID_CLIENT_SECRET": ""}, "IEIM_OPENID_CLIENT_SECRET is not set"),
        ({"IEIM_OPENID_GROUPS": ""}, "nobody from the provider could come in"),
        ({"IEIM_OPENID_GROUPS": '{"a": {"roles": ["king"]}}'}, "king for 'a'. The roles are: "),
        ({"IEIM_OPENID_GROUPS": '{"a": {"role": []}}'}, "something else than roles and agenc"),
        ({"IEIM_OPENID_GROUPS": '{"a": "caseworker"}'}, "something else than roles and agencies"),
        ({"IEIM_OPENID_GROUPS": '{"a": {"roles": "caseworker"}}'}, "something else than roles"),
        ({"IEIM_OPENID_ISSUER": "", "IEIM_PASSWORDS": "no"}, "there is no other way in"),
    ],
)
def test_it_says_what_to_set(set_to: dict[str, str], said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        read(set_to)


def test_a_provider_on_this_machine_is_for_development() -> None:
    local = {"IEIM_OPENID_ISSUER": "http://localhost:8080"}
    assert read(local, production=False)["ISSUER"] == "http://localhost:8080"


def test_a_role_that_needs_a_second_factor_is_one_of_ours() -> None:
    env = Env({"IEIM_MFA_ROLES": "knowledge publisher, supervisor"})
    assert sign_in.mfa_roles(env, production=True) == ["knowledge publisher", "supervisor"]
    env.check()
    env = Env({"IEIM_MFA_ROLES": "boss"})
    sign_in.mfa_roles(env, production=True)
    with pytest.raises(ImproperlyConfigured, match="IEIM_MFA_ROLES has no role of ours: boss"):
        env.check()


def test_production_asks_strong_roles_for_a_second_factor() -> None:
    strong = ["administrator", "knowledge publisher", "supervisor"]
    assert sign_in.mfa_roles(Env({}), production=True) == strong
    assert sign_in.mfa_roles(Env({}), production=False) == []
    nobody = Env({"IEIM_MFA_ROLES": "none"})
    assert sign_in.mfa_roles(nobody, production=True) == []
    nobody.check()
