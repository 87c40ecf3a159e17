"""Web pages that are read and drafted, and the forms that an editor sends about them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from django.test import Client

from ieim.people.models import User
from ieim.studio.models import PageRun, WebPage
from ieim.studio.webpages.drafting import draft
from ieim.studio.webpages.reading import read

READ_AT = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
ADDRESS = "https://city.example/bonfire/"
BONFIRE = """<html lang=en><title>City</title><main><h1>Permit for a bonfire</h1>
<p>You need a permit to light a <b>bonfire</b> in a public place.</p>
<h2>What you need</h2><ul><li>Proof of identity<li>The consent of the owner</ul>
<h2>Fees</h2><table><tr><th>Who<th>Fee<tr><td>Residents<td>EUR 25.00</table>
<h2>How to apply</h2><ol><li>Fill in the form.<li>Pay the fee.</ol>
<h2>What it takes</h2><p>A decision is made within ten days.</p></main>"""
NEWS = (
    "<html lang=en><main><h1>The mayor opens a bridge</h1><p>It was a sunny day for all.</p></main>"
)


def page_of(
    by: User,
    html: str = BONFIRE,
    *,
    address: str = ADDRESS,
    agency: str = "passports",
    **fields: Any,
) -> WebPage:
    """A page of an agency as the worker leaves it; ``fields`` replaces some of its draft's."""
    run = PageRun.objects.create(agency=agency, created_by=by)
    page = read(html.encode(), address)
    drafted, _ = draft(page, agency=agency)
    return WebPage.objects.create(
        run=run,
        agency=agency,
        address=address,
        state=WebPage.State.DRAFTED,
        title=page.title,
        language=page.language,
        text=page.text,
        sha256=hashlib.sha256(page.text.encode()).hexdigest(),
        draft={**(drafted or {}), **fields},
        read_at=READ_AT,
    )


def form_of(client: Client, page: WebPage) -> dict[str, Any]:
    """What the form of a page holds when it is opened, as a browser would send it."""
    context = client.get(url(page)).context
    form = {"sha256": page.sha256, "kind": context["kind"], "into": context["into"]}
    form |= {"compared": context["into"], "version": context["version"]}
    for field in context["fields"]:
        form[f"text-{field['name']}"] = field["text"].replace("\n", "\r\n")
    form["take"] = [field["name"] for field in context["fields"] if field["is_ticked"]]
    if not page.draft.get("categories"):
        form["own-category"] = context["category"] or ("" if context["into"] else "Fires")
    for name in ("category", "question"):
        form[name] = [value for kind, value, *_ in context["extras"] if kind == name]
    return form


def url(page: WebPage, action: str = "") -> str:
    return f"/knowledge/webpages/{page.pk}/{action}"


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())
