"""Forms of the admin as a browser fills them: what the page had, and what a person changed."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from ieim.studio.editor.forms import Fixed


def address(model: str, page: str, *args: object) -> str:
    """Return the address of a page of the knowledge's admin."""
    app = "knowledge" if model in ("release", "publication") else "studio"
    return reverse(f"admin:{app}_{model}_{page}", args=list(args))


def filled(client: Client, url: str, /, **changes: Any) -> dict[str, Any]:
    """Return what the form at ``url`` would post, with ``changes``; None takes a field out."""
    page = client.get(url)
    assert page.status_code == 200, page.status_code
    data = posted(page) | changes
    return {name: value for name, value in data.items() if value is not None}


def posted(page: Any) -> dict[str, Any]:
    """Return what the form on ``page`` would post as it stands."""
    data = fields(page.context["adminform"].form)
    # A browser leaves out what has nothing ticked.
    return {name: value for name, value in data.items() if value is not None}


def said(page: Any) -> str:
    """Return the page's text."""
    text: str = page.content.decode()
    return text


def fields(form: Any) -> dict[str, Any]:
    """Return what a form posts of its fields."""
    values = {}
    for bound in form:
        if not bound.field.disabled or isinstance(bound.field.widget, Fixed):
            values[bound.html_name] = bound.value()
    return values
