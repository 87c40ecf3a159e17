"""Sessions that the OpenID provider ends: OpenID Connect Back-Channel Logout 1.0."""

from __future__ import annotations

import logging
import time
from typing import Any

import jwt
from allauth.account.signals import user_logged_in
from allauth.core import ratelimit
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.usersessions.models import UserSession
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from ieim.people import openid, provided, sessions

logger = logging.getLogger(__name__)

EVENT = "http://schemas.openid.net/event/backchannel-logout"
_CLAIMS = ["iss", "aud", "iat", "exp", "jti", "events"]
_SIGNED = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}


# The signature of the provider stands for a form's token.
@csrf_exempt
@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the sessions that a logout token names: 200, or 400 with what is wrong with it."""
    if not ratelimit.consume(request, action="provider_logout"):
        return JsonResponse({"error": "temporarily_unavailable"}, status=429)
    try:
        claims = _claims(request)
    except (*openid.FAULTS, jwt.PyJWTError) as fault:
        logger.warning("A logout token was refused: %s", fault)
        return JsonResponse(
            {"error": "invalid_request", "error_description": str(fault)}, status=400
        )
    named = {"user__socialaccount__provider": provided.PROVIDER}
    if "sub" in claims:
        named["user__socialaccount__uid"] = openid.identity(claims)
    if "sid" in claims:
        named["data__sid"] = claims["sid"]
    for row in UserSession.objects.filter(**named).select_related("user"):
        sessions.end([row], of=row.user, why="provider")
    return HttpResponse()


def _claims(request: HttpRequest) -> dict[str, Any]:
    """Return what a logout token says (2.6). Raises PyJWTError and :data:`openid.FAULTS`."""
    token, provider = request.POST.get("logout_token", ""), openid.Provider(request)
    unverified = jwt.decode(token, options={"verify_signature": False})
    if unverified.get("aud") not in (provider.app.client_id, [provider.app.client_id]):
        raise OAuth2Error("It is for another site (aud).")  # and the provider is asked nothing
    configuration = provider.get_oauth2_adapter(request).openid_config
    algorithm, key = jwtkit.fetch_key(token, configuration["jwks_uri"], jwtkit.lookup_kid_jwk)
    if algorithm not in _SIGNED:
        raise OAuth2Error(f"It is signed with {algorithm}.")
    claims = jwt.decode(
        token,
        key,
        algorithms=[algorithm],
        audience=provider.app.client_id,
        issuer=configuration["issuer"],
        leeway=60,
        options={"require": _CLAIMS},
    )
    is_logout = isinstance(claims["events"], dict) and EVENT in claims["events"]
    if not is_logout or "nonce" in claims or not {"sub", "sid"} & claims.keys():
        raise OAuth2Error("It is no logout token (events, nonce, sub, sid).")
    if time.time() - claims["iat"] > openid.LONGEST_AGE:
        raise OAuth2Error("It is too old (iat).")
    jwtkit.verify_jti(claims | {"exp": time.time() + 2 * openid.LONGEST_AGE})
    return claims


@receiver(user_logged_in)
def _note_session(*, request: HttpRequest, **kwargs: Any) -> None:
    """Keep what the provider calls a session: a token may name that alone."""
    if sid := request.session.get(openid.SESSION_AT_PROVIDER):
        rows = UserSession.objects.filter(session_key=request.session.session_key)
        rows.update(data={"sid": sid})
