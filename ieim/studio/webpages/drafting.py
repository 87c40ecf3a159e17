"""What a page says of an entry: by its own data, by a model, or by its headings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.ports import Model
from ieim.pipeline.stages.base import Output
from ieim.pipeline.stages.entry_drafting import ENTRY
from ieim.studio.drafting import services as drafting
from ieim.studio.drafting.requests import question_findings, question_languages
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts.selectors import golden_texts
from ieim.studio.webpages import headings
from ieim.studio.webpages.reading import Page


def draft(
    page: Page, *, agency: str, model: Model | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the entry that a page describes, and what an audit event says of asking for it.

    The entry is an answer of draft_entry_v1 with ``by``: "model" or, where none is configured,
    "headings". It is None where the model's answer did not pass the gate twice; then the details
    have its ``messages``.

    Raises:
        ModelUnavailable: no answer could be had.
    """
    if model is None and not drafting.has_model():
        return {**headings.entry_of(page), "by": "headings"}, {}
    draft, golden = drafts.draft(), golden_texts()

    def check(output: Output) -> Any:
        owner = (agency, "", "")
        return question_findings(output, owner=owner, bundle=draft.bundle, golden=golden)

    asked, details = drafting.ask(
        ENTRY, _request(page, agency, draft.bundle), draft.release, check, model
    )
    tokens = asked.prompt_tokens + asked.completion_tokens
    if asked.output is None:
        messages = [finding.message for finding in asked.findings]
        return None, {**details, "tokens": tokens, "messages": messages}
    return {**asked.output, "by": "model"}, {**details, "tokens": tokens}


def _request(page: Page, agency: str, bundle: Bundle) -> Mapping[str, Any]:
    categories = [c for c in bundle.dictionary if c.agency == agency]
    return {
        "page": {"title": page.title, "text": page.text},
        "categories": [{"key": c.key, "value": c.value} for c in categories],
        "languages": question_languages(bundle),
    }
