"""What a page says of an entry: by its own data, by a model, or by its headings."""

from __future__ import annotations

import json
from typing import Any

from ieim.pipeline.evidence import locate
from ieim.pipeline.findings import Code
from ieim.pipeline.ports import Model
from ieim.pipeline.stages.entry_drafting import ENTRY, FIELDS
from ieim.studio.drafting import services as drafting
from ieim.studio.drafting.requests import question_findings, question_languages
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts.selectors import golden_texts
from ieim.studio.standards.linked_data import read_json_ld
from ieim.studio.standards.report import Report, StandardError
from ieim.studio.standards.rows import to_rows
from ieim.studio.standards.services import read_json
from ieim.studio.webpages import headings
from ieim.studio.webpages.reading import Page

_FORM = frozenset(code for code in Code if code.value.startswith(("json.", "schema")))
_NO_FORM = "It was not in the form that was asked for."


def draft(
    page: Page, *, agency: str, model: Model | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the entry that a page describes, and what an audit event says of asking for it.

    The entry is an answer of draft_entry_v1 with ``by``: "data" where the page describes a service
    so, or else "model" or, where none is configured, "headings". It is None where the model's
    answer did not pass the gate twice; then the details have its ``messages``. A question that
    breaks a rule is left out: with a page about an entry that is there, many are there already.

    Raises:
        ModelUnavailable: no answer could be had.
    """
    draft = drafts.draft()
    ours = [category for category in draft.bundle.dictionary if category.agency == agency]
    lines, names = by_data(page, agency)
    if lines:
        # A line that the page shows is its own quote.
        source = f"{page.title}\n{page.text}"
        fields = [
            {"field": name, "lines": texts, "quotes": [t for t in texts if locate(source, t)]}
            for name, texts in lines.items()
        ]
        keys = {category.value.casefold(): category.key for category in ours}
        categories = [{"key": keys.get(n.casefold(), ""), "value": n} for n in names]
        entry = {"kind": "service", "fields": fields, "categories": categories, "questions": []}
        return {**entry, "by": "data"}, {}
    if model is None and not drafting.has_model():
        return {**headings.entry_of(page), "by": "headings"}, {}
    request = {
        "page": {"title": page.title, "text": page.text},
        "categories": [{"key": category.key, "value": category.value} for category in ours],
        "languages": question_languages(draft.bundle),
    }
    asked, details = drafting.ask(ENTRY, request, draft.release, lambda _output: (), model)
    tokens = asked.prompt_tokens + asked.completion_tokens
    if asked.output is None:
        said = [finding.message for finding in asked.findings if finding.code not in _FORM]
        return None, {**details, "tokens": tokens, "messages": said or [_NO_FORM]}
    owner, golden = (agency, "", ""), golden_texts()
    wrong = question_findings(asked.output, owner=owner, bundle=draft.bundle, golden=golden)
    left_out = {finding.path.split("/")[2] for finding in wrong}
    questions = [q for i, q in enumerate(asked.output["questions"]) if str(i) not in left_out]
    return {**asked.output, "questions": questions, "by": "model"}, {**details, "tokens": tokens}


def by_data(page: Page, agency: str) -> tuple[dict[str, list[str]], list[str]]:
    """Return the lines, by field, of the one service that the page describes as data, and the names
    of its categories; none where it says no more of it than its name and an overview."""
    nothing: tuple[dict[str, list[str]], list[str]] = ({}, [])
    try:
        contents = read_json_ld(read_json(json.dumps(page.data).encode()), Report())
        rows = to_rows(contents, into=agency).rows
    except StandardError:
        return nothing
    services = list(rows.get("services", {}).values())
    if len(services) != 1:
        return nothing
    (service,) = services
    texts = {name: service.get(name, "") for name in FIELDS["service"]}
    texts["fees"] = texts["fees"] or service.get("amounts", "")
    lines = {n: t if isinstance(t, list) else t.splitlines() for n, t in texts.items() if t}
    if not lines.keys() - {"name", "overview"}:
        return nothing
    named = {row["key"]: row.get("value", "") for row in rows.get("dictionary", {}).values()}
    return lines, [*filter(None, (named.get(key) for key in service.get("categories", ())))]
