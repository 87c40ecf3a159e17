"""The cookie of a conversation in production, and the one from before it had a prefix."""

from __future__ import annotations

import pytest
from django.core.signing import TimestampSigner

from conversations.chat import cookies

BEFORE = "ieim_session"


def test_a_cookie_from_before_the_prefix_opens_its_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cookies, "NAME", "__Host-ieim_session")
    monkeypatch.setattr(cookies, "_SALT", "__Host-ieim.session")
    old, new = TimestampSigner(salt="ieim.session").sign("mine"), cookies.sign("new")
    assert cookies.secret_of({cookies.NAME: new}) == "new"
    assert cookies.secret_of({BEFORE: old}) == "mine"
    assert cookies.secret_of({cookies.NAME: new, BEFORE: old}) == "new"
    # Another host of the domain can set the bare name alone, and has nothing signed for it.
    assert cookies.secret_of({BEFORE: new}) is None
    monkeypatch.setattr(cookies, "MAX_AGE_DAYS", -1)
    assert cookies.secret_of({BEFORE: old}) is None
