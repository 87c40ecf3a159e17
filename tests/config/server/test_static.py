"""Static files while processes of two releases answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from ieim.config.middleware import StaticFiles


@pytest.fixture
def static_files(tmp_path: Path, settings: Any) -> StaticFiles:
    """The files of a release: one, and the site has no page of such a name."""
    for name in ("chat.js", "chat.0123456789ab.js"):
        (tmp_path / name).write_text("ours", encoding="utf-8")
    settings.STATIC_ROOT = str(tmp_path)
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = False
    return StaticFiles(lambda request: HttpResponse(status=404))


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("chat.0123456789ab.js", 200),
        ("chat.ba9876543210.js", 200),  # of the release before
        ("gone.ba9876543210.js", 404),
        ("chat.js/../chat.ba9876543210.py", 404),
    ],
)
def test_a_file_of_another_release_is_served_as_it_is_now(
    static_files: StaticFiles, name: str, status: int
) -> None:
    response = static_files(RequestFactory().get(f"/static/{name}"))
    assert response.status_code == status


def test_what_was_served_in_its_place_is_not_kept_for_long(static_files: StaticFiles) -> None:
    response = static_files(RequestFactory().get("/static/chat.ba9876543210.js"))
    assert response.headers["Cache-Control"] == "max-age=60, public"
    assert b"".join(response) == b"ours"
