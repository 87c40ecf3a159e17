"""What the tools take into account besides the release."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from mcp.server.mcpserver.exceptions import ToolError

from ieim.administration.organisation import Administration
from ieim.knowledge.models import Directive
from ieim.knowledge.vectors import shortlist_for
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query, Ranking
from ieim.studio.mcp import server

LOST = {"agency": "passports", "key": "passports.lost-passport"}
PHONE = "+49 151 23456789"


def test_an_embedder_sees_no_personal_data(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []

    class Watching:
        def __init__(self, release: Release) -> None:
            self._shortlist = shortlist_for(release)

        def rank(self, query: Query) -> Ranking:
            queries.append(query.text)
            return self._shortlist.rank(query)

    monkeypatch.setattr(server, "shortlist_for", Watching)
    answer = server.search_services(f"I lost my passport, call me at {PHONE}")
    assert answer["services"][0]["key"] == LOST["key"]
    assert len(queries) == 1
    assert PHONE not in queries[0]


def test_nothing_is_offered_where_nothing_is_near(published: None) -> None:
    assert server.search_services("zzz qqq xxx")["services"] == []


def test_notices_that_apply_now_go_with_a_service(published: None) -> None:
    now = timezone.now()
    author = User.objects.create_user("ada")
    common: dict[str, Any] = {"starts_at": now - timedelta(hours=1), "created_by": author}
    open_until = now + timedelta(hours=1)
    for text, agency, more in (
        ("Counter closed.", "passports", {}),
        ("Strike.", "", {}),
        ("Another's.", "revenue", {}),
        ("For the model.", "passports", {"model_only": True}),
    ):
        Directive.objects.create(text=text, agency=agency, ends_at=open_until, **common, **more)
    notices = server.get_service(**LOST)["service"]["notices"]
    assert sorted(notices) == ["Counter closed.", "Strike."]


def test_an_agency_that_is_switched_off_is_not_answered_for(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = Administration({"switches": {"agencies": "passports"}})
    monkeypatch.setattr("ieim.administration.selectors.current", lambda: off)
    with pytest.raises(ToolError, match="switched off"):
        server.get_service(**LOST)
    offered = server.search_services("I lost my passport")["services"]
    assert "passports" not in {service["agency"] for service in offered}
