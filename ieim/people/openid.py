"""OpenID Connect: login at the administration's provider, its accounts, and its logouts.

django-allauth does the discovery, the code flow with PKCE and state, and the ID token. Here are the
single provider of the settings, the nonce, and the accounts: each login sets roles and agencies to
exactly what the groups in the ID token give (``IEIM_OPENID_GROUPS``), also where an administrator
had given more. A superuser stays one; no group makes one. Nothing but the ID token is requested,
and none of it is stored. The views of allauth itself are not served: they accept scopes and
parameters from any link.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.parse import urlencode

import jwt
from allauth.account.signals import user_logged_in
from allauth.account.utils import get_next_redirect_url
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import lock_head
from ieim.people import sessions
from ieim.people.audited import record_of
from ieim.people.models import AgencyScope, User
from ieim.people.services import changing
from ieim.pipeline.message.screen import STRIPPED_CLASS

logger = logging.getLogger(__name__)

PROVIDER = "openid"
"""The provider's name in the rows of identities."""
LONGEST_AGE = 600
"""Seconds by which the time of a token may differ from the clock."""
ERRORS = (OAuth2Error, OSError, ValueError, KeyError, TypeError, AttributeError)
"""A response that does not come (the errors of requests are an OSError) or is malformed."""

# Names in sessions, also of the version before.
_LOGOUT_URL = "way_out_of_the_provider"
_SESSION_ID = "session_at_the_provider"

_UNSHOWABLE = re.compile(f"[\ud800-\udfff{STRIPPED_CLASS}]")
"""Control and direction characters: a name with them can read as another, or cannot be stored."""
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_CLAIMS = ["iss", "aud", "iat", "exp", "jti", "events"]
_ALGORITHMS = frozenset(
    (
        *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
        *("ES256", "ES384", "ES512", "EdDSA"),
    )
)


# --- The provider --------------------------------------------------------------------------------


class Provider(OpenIDConnectProvider):
    """The provider of the settings. Raises Http404 if there is none."""

    pkce_enabled_default = True

    def __init__(self, request: HttpRequest) -> None:
        config = settings.IEIM_OPENID
        if not config["ISSUER"]:
            raise Http404
        app = SocialApp(
            provider=OpenIDConnectProvider.id,
            provider_id=PROVIDER,
            name=config["NAME"],
            client_id=config["CLIENT_ID"],
            secret=config["CLIENT_SECRET"],
            settings={
                "server_url": config["ISSUER"],
                "scope": config["SCOPES"],
                "fetch_userinfo": False,
            },
        )
        super().__init__(request, app=app)

    def get_oauth2_adapter(self, request: HttpRequest) -> OpenIDAdapter:
        return OpenIDAdapter(request, self)

    def extract_uid(self, data: Any) -> str:
        return identity(data["id_token"])

    def extract_extra_data(self, data: Any) -> dict[str, Any]:
        """Return nothing: what is stored about a person is in the account."""
        return {}

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        """Return the login with its claims. Raises OAuth2Error for an invalid ID token."""
        _check_id_token(response.get("id_token", {}), self.app.client_id)
        login = super().sociallogin_from_response(request, response)
        login.claims = response["id_token"]
        return login


class OpenIDAdapter(OpenIDConnectOAuth2Adapter):
    """Requests to the provider."""

    def __init__(self, request: HttpRequest, provider: Provider) -> None:
        super().__init__(request, PROVIDER)
        self._provider = provider

    def get_provider(self) -> Provider:
        return self._provider

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's metadata. Raises OAuth2Error for those of another issuer."""
        config: dict[str, Any] = super().openid_config
        if config["issuer"].rstrip("/") != settings.IEIM_OPENID["ISSUER"]:
            raise OAuth2Error(f"The provider calls itself {config['issuer']!r}.")
        return config

    @property
    def basic_auth(self) -> bool:
        """Whether the secret is sent by HTTP authentication, the default of the standard."""
        methods = self.openid_config.get("token_endpoint_auth_methods_supported", ())
        return "client_secret_post" not in methods

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return _absolute_url(request, "openid_callback")

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any
    ) -> SocialLogin:
        """Return the login with the URL of OpenID Connect RP-Initiated Logout 1.0, "" if the
        provider has none."""
        login = super().complete_login(request, app, token, **kwargs)
        endpoint = str(self.openid_config.get("end_session_endpoint") or "")
        scheme = settings.IEIM_OPENID["ISSUER"].partition("://")[0]
        query = urlencode(
            {
                "id_token_hint": kwargs["response"]["id_token"],
                "client_id": app.client_id,
                "post_logout_redirect_uri": _absolute_url(request, "login"),
            }
        )
        url = f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"
        login.logout_url = url if endpoint.startswith(f"{scheme}://") else ""
        return login


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Site-specific hooks of allauth for logins at the provider."""

    def get_provider(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Provider:
        return Provider(request)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or make the account. Raises ImmediateHttpResponse for a person without access."""
        claims = sociallogin.claims
        if claims.get("nonce") != sociallogin.state["nonce"]:
            raise OAuth2Error("The ID token answers another question.")
        user = synchronise_account(sociallogin.account.uid, claims)
        if user is None:
            page = render(request, "registration/refused.html", _context(), status=403)
            raise ImmediateHttpResponse(page)
        sociallogin.user = user
        if request.user.is_authenticated:
            logout(request)  # allauth would do so later, and lose what the session gets now
        request.session[_LOGOUT_URL] = sociallogin.logout_url
        request.session[_SESSION_ID] = claims.get("sid")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Show the error page. Raises ImmediateHttpResponse."""
        raise ImmediateHttpResponse(_error_page(request, exception or error))


def identity(claims: Mapping[str, Any]) -> str:
    """Return the identifier of a person's identity: a digest of issuer and subject."""
    return hashlib.sha256(f"{claims['iss']}\0{claims['sub']}".encode()).hexdigest()


def logout_url(request: HttpRequest) -> str:
    """Return the URL that ends the session at the provider, "" for a login by password."""
    url: str = request.session.get(_LOGOUT_URL, "")
    return url


def _check_id_token(claims: Mapping[str, Any], client_id: str) -> None:
    """Check an ID token by OpenID Connect Core 3.1.3.7. PyJWT has checked issuer and audience.

    Raises:
        OAuth2Error: it is not valid for this site now.
    """
    subject, party, audience = (claims.get(name) for name in ("sub", "azp", "aud"))
    expires_at, issued_at = claims.get("exp"), claims.get("iat")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise OAuth2Error("The provider has sent no ID token that says who it is.")
    is_for_several = isinstance(audience, list) and len(audience) > 1
    if (is_for_several or party is not None) and party != client_id:
        raise OAuth2Error("The ID token is for another site (azp).")
    if not isinstance(expires_at, int | float) or not isinstance(issued_at, int | float):
        raise OAuth2Error("The ID token does not say from when to when it holds.")
    now = time.time()
    if not (expires_at > now and abs(now - issued_at) <= LONGEST_AGE):
        raise OAuth2Error("The ID token is of another time. Compare the clocks of both machines.")


# --- Accounts ------------------------------------------------------------------------------------


@transaction.atomic
def synchronise_account(identifier: str, claims: Mapping[str, Any]) -> User | None:
    """Make or update the account of an identity and return it, None for a person without access.

    No account is made for a person without a role; an existing one loses its roles all the same.

    Raises:
        OAuth2Error: the ID token does not list the groups; no role is taken.
    """
    lock_head(PEOPLE_CHAIN)
    roles, agencies = granted(claims)
    row = SocialAccount.objects.filter(provider=PROVIDER, uid=identifier).first()
    user = row.user if row else _account_with_address(claims)
    if user is None and not roles:
        record_of(None, "people.login_refused", actor="system", by=PROVIDER)
        return None
    with changing(*([user.pk] if user else []), by=None) as pks:
        if user is None:
            user = User(username=_unused_username(claims))
        _set_profile(user, claims)
        user.save()
        pks.append(user.pk)
        user.groups.set(Group.objects.filter(name__in=roles))
        user.agency_scopes.exclude(agency__in=agencies).delete()
        for agency in sorted(agencies):
            AgencyScope.objects.get_or_create(user=user, agency=agency)
        # Sets last_login, by which the owner's tokens expire.
        SocialAccount.objects.update_or_create(user=user, provider=PROVIDER, uid=identifier)
    if user.is_active and (roles or user.is_superuser):
        return user
    record_of(user, "people.login_refused", actor="system", by=PROVIDER)
    return None


def granted(claims: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the roles and the agencies that the groups of an ID token give.

    Raises:
        OAuth2Error: the token refers to the groups instead of listing them (OpenID Connect Core
            5.6.2), as Entra ID does above 200.
    """
    groups_claim = settings.IEIM_OPENID["GROUPS_CLAIM"]
    if groups_claim in (claims.get("_claim_names") or {}):
        raise OAuth2Error("Too many groups for the ID token. See docs/entra-id.md.")
    claimed = claims.get(groups_claim)
    names = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, list) else []
    groups = settings.IEIM_OPENID["GROUPS"]
    grants = [groups[name] for name in names if isinstance(name, str) and name in groups]
    roles = frozenset[str]().union(*(grant["roles"] for grant in grants))
    return roles, frozenset[str]().union(*(grant["agencies"] for grant in grants))


def _account_with_address(claims: Mapping[str, Any]) -> User | None:
    """Return the only account with the verified address that has no identity yet: it was made
    before its owner logged in. Never one with more than a group can give."""
    email = _text(claims, "email")
    if not email or claims.get("email_verified") is not True:
        return None
    users = User.objects.filter(
        email__iexact=email, is_superuser=False, user_permissions=None, socialaccount=None
    )
    return users.get() if users.count() == 1 else None


def _set_profile(user: User, claims: Mapping[str, Any]) -> None:
    user.first_name = _text(claims, "given_name")[:150] or user.first_name
    user.last_name = _text(claims, "family_name")[:150] or user.last_name
    with suppress(ValidationError):
        email = _text(claims, "email")
        validate_email(email)
        user.email = email
    # A password would open the account without the provider.
    if not user.is_superuser and user.has_usable_password():
        user.set_unusable_password()


def _unused_username(claims: Mapping[str, Any]) -> str:
    """Return the provider's username, with a number if it is taken."""
    name = _text(claims, "preferred_username") or _text(claims, "email") or "staff"
    base = re.sub(r"[^\w.@+-]", "-", name)[:140]
    taken = set(User.objects.filter(username__startswith=base).values_list("username", flat=True))
    if base not in taken:
        return base
    return next(name for number in count(2) if (name := f"{base}-{number}") not in taken)


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return " ".join(_UNSHOWABLE.sub("", value).split()) if isinstance(value, str) else ""


# --- Views ---------------------------------------------------------------------------------------


@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider; ``next`` is the page after the login."""
    provider, nonce = Provider(request), get_random_string(32)
    params = {"nonce": nonce}
    if request.user.is_authenticated:
        params["prompt"] = "login"  # to prove again who they are
    options = {"next_url": get_next_redirect_url(request), "auth_params": params}
    response: HttpResponse
    try:
        response = provider.redirect(request, AuthProcess.LOGIN, nonce=nonce, **options)
    except ERRORS as error:
        response = _error_page(request, error)
    return response


@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Complete the login of a person who comes back from the provider."""
    adapter = Provider(request).get_oauth2_adapter(request)
    response: HttpResponse
    try:
        response = OAuth2CallbackView.adapter_view(adapter)(request)
    except ERRORS as error:
        response = _error_page(request, error)
    return response


# The provider's signature takes the place of a CSRF token.
@csrf_exempt
@require_POST
def back_channel_logout(request: HttpRequest) -> HttpResponse:
    """End the sessions of a logout token (OpenID Connect Back-Channel Logout 1.0): 200, or 400
    with what is wrong with it."""
    if not ratelimit.consume(request, action="provider_logout"):
        return JsonResponse({"error": "temporarily_unavailable"}, status=429)
    try:
        claims = _logout_claims(request)
    except (*ERRORS, jwt.PyJWTError) as error:
        logger.warning("A logout token was refused: %s", error)
        body = {"error": "invalid_request", "error_description": str(error)}
        return JsonResponse(body, status=400)
    filters = {"user__socialaccount__provider": PROVIDER}
    if "sub" in claims:
        filters["user__socialaccount__uid"] = identity(claims)
    if "sid" in claims:
        filters["data__sid"] = claims["sid"]
    for session in UserSession.objects.filter(**filters).select_related("user"):
        sessions.end([session], user=session.user, reason="provider")
    return HttpResponse()


def _logout_claims(request: HttpRequest) -> dict[str, Any]:
    """Return the claims of a valid logout token (section 2.6).

    Raises:
        PyJWTError: the token is malformed, expired or not signed by the provider.
        OAuth2Error: it is no logout token for this site, or too old. Others of :data:`ERRORS`
            if the provider does not answer.
    """
    token, provider = request.POST.get("logout_token", ""), Provider(request)
    unverified = jwt.decode(token, options={"verify_signature": False})
    # Checked first: a token for another site causes no request to the provider.
    if unverified.get("aud") not in (provider.app.client_id, [provider.app.client_id]):
        raise OAuth2Error("It is for another site (aud).")
    config = provider.get_oauth2_adapter(request).openid_config
    algorithm, key = jwtkit.fetch_key(token, config["jwks_uri"], jwtkit.lookup_kid_jwk)
    if algorithm not in _ALGORITHMS:
        raise OAuth2Error(f"It is signed with {algorithm}.")
    claims = jwt.decode(
        token,
        key,
        algorithms=[algorithm],
        audience=provider.app.client_id,
        issuer=config["issuer"],
        leeway=60,
        options={"require": _LOGOUT_CLAIMS},
    )
    is_logout = isinstance(claims["events"], dict) and _LOGOUT_EVENT in claims["events"]
    if not is_logout or "nonce" in claims or not {"sub", "sid"} & claims.keys():
        raise OAuth2Error("It is no logout token (events, nonce, sub, sid).")
    if time.time() - claims["iat"] > LONGEST_AGE:
        raise OAuth2Error("It is too old (iat).")
    jwtkit.verify_jti(claims | {"exp": time.time() + 2 * LONGEST_AGE})
    return claims


@receiver(user_logged_in)
def _store_session_id(*, request: HttpRequest, **kwargs: Any) -> None:
    """Store the provider's id of the session: a logout token may contain only that."""
    if session_id := request.session.get(_SESSION_ID):
        rows = UserSession.objects.filter(session_key=request.session.session_key)
        rows.update(data={"sid": session_id})


def _absolute_url(request: HttpRequest, name: str) -> str:
    path, public = reverse(name), settings.IEIM_PUBLIC_URL
    return f"{public}{path}" if public else request.build_absolute_uri(path)


def _context() -> dict[str, str]:
    return {"provider": settings.IEIM_OPENID["NAME"]}


def _error_page(request: HttpRequest, error: object) -> HttpResponse:
    logger.warning("Somebody could not sign in by OpenID Connect: %s", error)
    return render(request, "registration/unavailable.html", _context(), status=502)
