"""An OpenID provider that a test runs: oidc-provider-mock (Authlib), on loopback over HTTP.

It signs real ID tokens and asks for the client's secret; who signs in, and in which groups they
are, a test says beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import httpx2
import jwt
from django.test import Client
from oidc_provider_mock import _app, run_server_in_thread

GROUPS = {
    "desk": {"roles": ["caseworker"], "agencies": []},
    "heads": {"roles": ["supervisor"], "agencies": ["*"]},
    "passports": {"roles": [], "agencies": ["passports"]},
}
CALLBACK = "http://testserver/staff/login/openid/callback/"


class Directory:
    """The provider as its administrators see it; ``told`` is for the settings of the site."""

    def __init__(self, address: str, key: Any) -> None:
        self.address, self._key = address, key
        body = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "client_secret_basic"}
        made = httpx2.post(f"{address}/oauth2/clients", json=body).raise_for_status().json()
        groups = {
            name: {part: frozenset(values) for part, values in given.items()}
            for name, given in GROUPS.items()
        }
        self.told: dict[str, Any] = {
            "ISSUER": address,
            "CLIENT_ID": made["client_id"],
            "CLIENT_SECRET": made["client_secret"],
            "NAME": "City login",
            "SCOPES": ["openid", "profile", "email"],
            "GROUPS_CLAIM": "groups",
            "GROUPS": groups,
        }

    def person(self, name: str, *groups: Any, **claims: Any) -> None:
        """Say who somebody is."""
        fields = {"groups": [*groups], "preferred_username": name, **claims}
        httpx2.put(f"{self.address}/users/{name}", json=fields).raise_for_status()

    def sign(self, claims: dict[str, Any]) -> str:
        """Return a token that the provider has signed."""
        (jwk,) = httpx2.get(f"{self.address}/jwks").json()["keys"]
        key = jwt.PyJWK(self._key.as_dict(is_private=True), algorithm="RS256")
        return jwt.encode(claims, key.key, "RS256", {"kid": jwk["kid"], "typ": "logout+jwt"})

    def agree(self, address: str, name: str) -> str:
        """Log ``name`` in at the address that the site has sent them to; returns the way back."""
        back = httpx2.post(address, data={"sub": name})
        assert back.status_code == 302, back.text
        return back.headers["Location"]

    def enter(self, browser: Client, name: str, *, to: str = "/staff/") -> Any:
        """Sign ``name`` in with ``browser``; returns what the site answers in the end."""
        sent = browser.get("/staff/login/openid/", {"next": to})
        assert sent.status_code == 302, sent.content.decode()
        parts = urlsplit(self.agree(sent["Location"], name))
        return browser.get(f"{parts.path}?{parts.query}")


@contextmanager
def running() -> Iterator[Directory]:
    """Run a provider on a free port of loopback."""
    store = _app.Storage()
    options = {"require_client_registration": True, "require_nonce": True}
    with mock.patch.object(_app, "Storage", return_value=store):
        server = run_server_in_thread(**options)
    with server as listening:
        yield Directory(f"http://localhost:{listening.server_port}", store.jwk)
