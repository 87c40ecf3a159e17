"""Entries' pages as a browser fills them: what the page had, and what a person changed."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.studio.admin.admin_pages import fields

RENEW = "/knowledge/services/passports/renew/"


def filled(client: Client, url: str = RENEW, /, **changes: Any) -> dict[str, Any]:
    """Return what the form at ``url`` would post, with ``changes``."""
    page = client.get(url)
    assert page.status_code == 200, page.status_code
    form = page.context["form"]
    data = {
        name: "\n".join(value) if isinstance(value, list) and name != "categories" else value
        for name, value in fields(form).items()
    }
    if "questions" in form.fields:
        data["initial-questions"] = data["questions"]
    return {name: value for name, value in (data | changes).items() if value is not None}
