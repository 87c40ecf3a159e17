"""draft_entry_v1: the entry that a web page describes, each field with the quotes that it rests on.

``request`` has ``page`` (``{"title", "text"}``), ``categories`` (``[{"key", "value"}]``) and
``languages``. Nothing of the page tells the model what to do; whatever it makes of it, a field says
what stands in its quotes, and its quotes stand in the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ieim.pipeline.evidence import locate
from ieim.pipeline.evidence.folding import fold_quote
from ieim.pipeline.facts import facts, figures, matches
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate.grounding import currencies_of
from ieim.pipeline.knowledge import SERVICE_TEXTS
from ieim.pipeline.stages.base import Context, Output, Stage

ENTRY = "draft_entry_v1"
FIELDS: Mapping[str, tuple[str, ...]] = {
    "service": SERVICE_TEXTS,
    "agency": ("name", "description"),
    "neither": (),
}
"""The fields of an entry, by what the page is about."""
LISTS = ("requirements", "how_to_apply")
"""The fields of which a line is an item."""
LEAST_SHARED = 0.4
"""Share of a line's n-grams that its quotes have: an honest summary measured has 0.44 or
more, another page's text or what an instruction asks for mostly under 0.2."""
_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff]"  # Thai to Han: no spaces
    r"|[^\W\d_]{4,}"
)


def _entry(output: Output, context: Context) -> Iterator[Finding]:
    request: Mapping[str, Any] = context.request or {}
    kind, seen = output["kind"], set[str]()
    for i, entry in enumerate(output["fields"]):
        name, path = entry["field"], pointer("fields", i)
        if name not in FIELDS[kind] or name in seen:
            message = f"The field {name} is none of this kind of entry, or is there twice."
            yield Finding(Code.KNOWLEDGE_UNKNOWN, f"{path}/field", message)
            continue
        seen.add(name)
        yield from _field(entry, path, context)
    if FIELDS[kind] and "name" not in seen:
        yield Finding(Code.REPLY_UNCOVERED, "/fields", "The field name is missing.")
    known = {category["key"]: category["value"] for category in request["categories"]}
    for i, category in enumerate(output["categories"]):
        key, path = category["key"], pointer("categories", i)
        if key and key not in known:
            message = f"There is no category {key}. A new one has no key."
            yield Finding(Code.KNOWLEDGE_UNKNOWN, f"{path}/key", message)
        elif key and category["value"] != known[key]:
            message = f"The category {key} has another name."
            yield Finding(Code.KNOWLEDGE_MISMATCH, f"{path}/value", message)
    for name in ("categories", "questions"):
        if kind != "service" and output[name]:
            message = f"Only a service has {name}."
            yield Finding(Code.KNOWLEDGE_UNKNOWN, pointer(name), message)


def _field(entry: Mapping[str, Any], path: str, context: Context) -> Iterator[Finding]:
    """Yield what is wrong with a field: quotes that are none, and what does not stand in them."""
    page = (context.request or {})["page"]
    source, name = f"{page['title']}\n{page['text']}", entry["field"]
    if not entry["quotes"]:
        yield Finding(Code.EVIDENCE_MISSING, f"{path}/quotes", f"The field {name} has no quote.")
    for j, quote in enumerate(entry["quotes"]):
        if locate(source, quote) is None:
            message = f"The page does not say “{quote}”."
            yield Finding(Code.EVIDENCE_NOT_FOUND, f"{path}/quotes{pointer(j)}", message)
    stated, given = "\n".join(entry["lines"]), "\n".join(entry["quotes"])
    if name == "name" and locate(source, stated) is None:
        message = f"“{stated}” is not what the page calls it."
        yield Finding(Code.EVIDENCE_NOT_FOUND, f"{path}/lines", message)
    if added := sorted(set(figures(stated)) - set(figures(given))):
        message = f"The field {name} has figures that its quotes have not: {', '.join(added)}."
        yield Finding(Code.REPLY_UNGROUNDED, f"{path}/lines", message)
    quoted = _ngrams(given)
    for line in entry["lines"]:
        ngrams = _ngrams(line)
        if name != "name" and len(ngrams & quoted) < LEAST_SHARED * len(ngrams):
            message = f"The quotes of the field {name} do not say “{line}”."
            yield Finding(Code.REPLY_UNGROUNDED, f"{path}/lines", message)
    currencies = currencies_of(context.release)
    published = facts(given, currencies=currencies)
    for fact in facts(stated, currencies=currencies):
        if not matches(fact, published):
            message = f"The field {name} states what its quotes do not: {fact.text}."
            yield Finding(Code.REPLY_UNGROUNDED, f"{path}/lines", message)


def _ngrams(text: str) -> set[str]:
    """Return the runs of four letters of a text's words: endings of words hardly count so."""
    words = _WORD.findall(fold_quote(text))
    return {word[at : at + 4] for word in words for at in range(max(1, len(word) - 3))}


# It has no turn: its input is the request's, and nothing is kept of it in a state.
STAGE = Stage(ENTRY, lambda _inputs: {}, lambda _output: {}, has_session=False, semantics=_entry)
