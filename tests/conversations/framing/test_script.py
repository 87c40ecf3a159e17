"""``/embed.js``: the same for everybody, and small."""

from __future__ import annotations

import json
import re
from typing import Any

from django.test import Client

from tests.administration.setting import put
from tests.conversations.framing.framing import SITE, allow


def settings_of(text: str) -> dict[str, Any]:
    match = re.search(r"const settings = (\{.*\});", text)
    assert match
    return dict(json.loads(match[1]))


def test_it_is_kept_by_browsers_and_sets_no_cookie(db: None) -> None:
    first = Client().get("/embed.js", headers={"Accept-Language": "fr", "Cookie": "a=b"})
    assert first.status_code == 200
    assert first["Content-Type"] == "text/javascript; charset=utf-8"
    assert first["Cache-Control"] == "public, max-age=300"
    assert first["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "Cookie" not in first.headers.get("Vary", "")
    assert not first.cookies
    assert len(first.content) < 10_000
    again = Client().get("/embed.js", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    allow(SITE)
    assert Client().get("/embed.js", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_it_knows_the_sites_the_languages_and_the_colour(db: None) -> None:
    assert settings_of(Client().get("/embed.js").content.decode())["sites"] == []
    allow(SITE, "https://bücher.example")
    put("languages", offered="ar fr")
    put("colours", brand="#1f4e8c")
    result = settings_of(Client().get("/embed.js").content.decode())
    assert result["sites"] == [SITE, "https://xn--bcher-kva.example"]
    assert result["colour"] == "#1f4e8c"
    assert list(result["words"]) == ["fr", "ar"]
    assert result["words"]["ar"]["direction"] == "rtl"
    assert result["words"]["fr"]["close"] == "Fermer"


def test_it_makes_no_markup_of_texts() -> None:
    from django.conf import settings

    text = (settings.BASE_DIR / "templates/conversations/framing/embed.js").read_text()
    for forbidden in ("innerHTML", "insertAdjacent", "eval(", ".style", "import(", "fetch("):
        assert forbidden not in text, forbidden
