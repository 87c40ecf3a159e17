"""Signing in at the administration's OpenID provider, with django-allauth.

What allauth does: the addresses of the provider, the code flow with PKCE and state, the ID token.
What is ours: one provider, which the environment names and no row; the nonce; that nothing but the
ID token is asked, and nothing of it kept; and whose account it is (:mod:`ieim.people.provided`).
Allauth's own addresses are not served: they take scopes and parameters from whoever wrote a link.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.views.decorators.http import require_safe

from ieim.people import provided

logger = logging.getLogger(__name__)

_WAY_OUT = "way_out_of_the_provider"


SESSION_AT_PROVIDER = "session_at_the_provider"
"""The member of a session that says what the provider calls it (``sid``)."""


def identity(claims: Mapping[str, Any]) -> str:
    """Return what an account is tied to: a digest of issuer and subject."""
    return hashlib.sha256(f"{claims['iss']}\0{claims['sub']}".encode()).hexdigest()


class Provider(OpenIDConnectProvider):
    """The provider of the settings. Raises Http404 where there is none."""

    pkce_enabled_default = True

    def __init__(self, request: HttpRequest) -> None:
        told = settings.IEIM_OPENID
        if not told["ISSUER"]:
            raise Http404
        app = SocialApp(
            provider=OpenIDConnectProvider.id,
            provider_id=provided.PROVIDER,
            name=told["NAME"],
            client_id=told["CLIENT_ID"],
            secret=told["CLIENT_SECRET"],
            settings={
                "server_url": told["ISSUER"],
                "scope": told["SCOPES"],
                "fetch_userinfo": False,
            },
        )
        super().__init__(request, app=app)

    def get_oauth2_adapter(self, request: HttpRequest) -> Conversation:
        return Conversation(request, self)

    def extract_uid(self, data: Any) -> str:
        """Return the identity: the provider's name for a person is unique with its own name."""
        return identity(data["id_token"])

    def extract_extra_data(self, data: Any) -> dict[str, Any]:
        """Return nothing: what is to be known of a person is in the account."""
        return {}

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        """Return the sign-in with its claims. Raises OAuth2Error without a right ID token."""
        _check(response.get("id_token", {}), self.app.client_id)
        login = super().sociallogin_from_response(request, response)
        login.claims = response["id_token"]
        return login


class Conversation(OpenIDConnectOAuth2Adapter):
    """What is asked of the provider: with one who says it is another one, nothing."""

    def __init__(self, request: HttpRequest, provider: Provider) -> None:
        super().__init__(request, provided.PROVIDER)
        self._provider = provider

    def get_provider(self) -> Provider:
        return self._provider

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider says of itself."""
        found: dict[str, Any] = super().openid_config
        if found["issuer"].rstrip("/") != settings.IEIM_OPENID["ISSUER"]:
            raise OAuth2Error(f"The provider calls itself {found['issuer']!r}.")
        return found

    @property
    def basic_auth(self) -> bool:
        """Whether the secret is sent as HTTP's: what a provider takes that does not say."""
        known = self.openid_config.get("token_endpoint_auth_methods_supported", ())
        return "client_secret_post" not in known

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return _address(request, "openid_callback")

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any
    ) -> SocialLogin:
        """Return the sign-in with the address that ends it at the provider; none where the provider
        offers none (OpenID Connect RP-Initiated Logout 1.0)."""
        login = super().complete_login(request, app, token, **kwargs)
        end = str(self.openid_config.get("end_session_endpoint") or "")
        scheme = settings.IEIM_OPENID["ISSUER"].partition("://")[0]
        told = {
            "id_token_hint": kwargs["response"]["id_token"],
            "client_id": app.client_id,
            "post_logout_redirect_uri": _address(request, "login"),
        }
        asked = f"{end}{'&' if '?' in end else '?'}{urlencode(told)}"
        login.way_out = asked if end.startswith(f"{scheme}://") else ""
        return login


class Accounts(DefaultSocialAccountAdapter):
    """Where allauth asks whose account it is."""

    def get_provider(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Provider:
        """Return the one provider, whatever it is called."""
        return Provider(request)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or make the account. Raises ImmediateHttpResponse for whom it opens nothing."""
        claims = sociallogin.claims
        if claims.get("nonce") != sociallogin.state["nonce"]:
            raise OAuth2Error("The ID token answers another question.")
        user = provided.follow(sociallogin.account.uid, claims)
        if user is None:
            page = render(request, "registration/refused.html", _named(), status=403)
            raise ImmediateHttpResponse(page)
        sociallogin.user = user
        if request.user.is_authenticated:
            logout(request)  # allauth would, and forget what is noted now
        request.session[_WAY_OUT] = sociallogin.way_out
        request.session[SESSION_AT_PROVIDER] = claims.get("sid")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Show our page. Raises ImmediateHttpResponse."""
        raise ImmediateHttpResponse(_failed(request, exception or error))


@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Send somebody to the provider; ``next`` is where they want to go."""
    provider, nonce = Provider(request), get_random_string(32)
    params = {"nonce": nonce}
    if request.user.is_authenticated:
        params["prompt"] = "login"  # they come to prove again who they are
    options = {"next_url": get_next_redirect_url(request), "auth_params": params}
    response: HttpResponse
    try:
        response = provider.redirect(request, AuthProcess.LOGIN, nonce=nonce, **options)
    except FAULTS as fault:
        response = _failed(request, fault)
    return response


@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Take somebody who comes back from the provider."""
    conversation = Provider(request).get_oauth2_adapter(request)
    response: HttpResponse
    try:
        response = OAuth2CallbackView.adapter_view(conversation)(request)
    except FAULTS as fault:
        response = _failed(request, fault)
    return response


def way_out(request: HttpRequest) -> str:
    """Return where somebody ends their session at the provider; empty for who has not come from
    there. It was asked for when they came: whether the provider answers now, nobody waits for."""
    address: str = request.session.get(_WAY_OUT, "")
    return address


FAULTS = (OAuth2Error, OSError, ValueError, KeyError, TypeError, AttributeError)
"""An answer that does not come (requests' errors are an OSError), or has another form."""


LONGEST_AGE = 600
"""Seconds between an ID token and the clock here."""


def _check(claims: Mapping[str, Any], client_id: str) -> None:
    """Check an ID token as OpenID Connect Core 3.1.3.7 has it, beside issuer and audience, which
    PyJWT has checked, and the nonce. Raises OAuth2Error."""
    subject, party, audience = (claims.get(name) for name in ("sub", "azp", "aud"))
    until, since = claims.get("exp"), claims.get("iat")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise OAuth2Error("The provider has sent no ID token that says who it is.")
    is_for_several = isinstance(audience, list) and len(audience) > 1
    if (is_for_several or party is not None) and party != client_id:
        raise OAuth2Error("The ID token is for another site (azp).")
    if not isinstance(until, int | float) or not isinstance(since, int | float):
        raise OAuth2Error("The ID token does not say from when to when it holds.")
    now = time.time()
    if not (until > now and abs(now - since) <= LONGEST_AGE):
        raise OAuth2Error("The ID token is of another time. Compare the clocks of both machines.")


def _address(request: HttpRequest, name: str) -> str:
    path, public = reverse(name), settings.IEIM_PUBLIC_URL
    return f"{public}{path}" if public else request.build_absolute_uri(path)


def _named() -> dict[str, str]:
    return {"provider": settings.IEIM_OPENID["NAME"]}


def _failed(request: HttpRequest, fault: object) -> HttpResponse:
    logger.warning("Somebody could not sign in by OpenID Connect: %s", fault)
    return render(request, "registration/unavailable.html", _named(), status=502)
