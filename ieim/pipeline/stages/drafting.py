"""What a model drafts for staff from an entry: questions, plain language, and translations.

None of them is a stage of a turn. Staff read the texts, so the figures and names of a draft have
to be those of its original; who may ask a question is checked where the draft's questions are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ieim.pipeline.facts import Fact, facts, figures, matches
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate.grounding import Name, currencies_of, named
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages import entry_drafting
from ieim.pipeline.stages.base import Context, Output, Stage

QUESTIONS, PLAIN, TRANSLATION = "draft_questions_v1", "draft_plain_v1", "draft_translation_v1"
MESSAGE = "message"
"""The field of a citizen's message, which may call an agency by any name."""

_NEUTRAL = frozenset({"url", "email", "phone"})
"""Facts that are read in every language; the words of others are only known in English."""


def _fields(output: Output, context: Context) -> Iterator[Finding]:
    """Yield what differs between the fields of a draft and those of the request."""
    request: Mapping[str, Any] = context.request or {}
    originals = {entry["field"]: entry["lines"] for entry in request["fields"]}
    seen = set[str]()
    for i, entry in enumerate(output["fields"]):
        name, path = entry["field"], pointer("fields", i)
        if name not in originals or name in seen:
            message = "The field is none of the request, or is there twice."
            yield Finding(Code.KNOWLEDGE_UNKNOWN, f"{path}/field", message)
            continue
        seen.add(name)
        if not all(any(map(str.isalnum, line)) for line in entry["lines"]):
            yield Finding(Code.REPLY_EMPTY, f"{path}/lines", f"The field {name} has an empty line.")
        is_translation = "language" in request
        if is_translation and len(entry["lines"]) != len(originals[name]):
            message = f"The field {name} has not as many lines as the original."
            yield Finding(Code.REPLY_UNCOVERED, f"{path}/lines", message)
        original, draft = "\n".join(originals[name]), "\n".join(entry["lines"])
        for code, message in _facts(original, draft, context.release, is_translation):
            yield Finding(code, f"{path}/lines", f"The field {name} {message}.")
        if name not in ("name", MESSAGE):
            for code, message in _names(original, draft, request, context.release):
                yield Finding(code, f"{path}/lines", f"The field {name} {message}.")
    for name in originals.keys() - seen:
        yield Finding(Code.REPLY_UNCOVERED, "/fields", f"The field {name} is missing.")


def _facts(
    original: str, draft: str, release: Release, is_translation: bool
) -> Iterator[tuple[Code, str]]:
    """Yield the figures and facts that only one of two texts has, each as a predicate."""
    before, after = set(figures(original)), set(figures(draft))
    if added := sorted(after - before):
        yield Code.REPLY_UNGROUNDED, f"has figures that the original has not: {', '.join(added)}"
    if lost := sorted(before - after):
        yield Code.REPLY_UNCOVERED, f"lacks figures of the original: {', '.join(lost)}"
    currencies = currencies_of(release)
    stated, given = (facts(text, currencies=currencies) for text in (draft, original))
    if is_translation:
        comparable = _NEUTRAL | ({f.kind for f in stated} & {f.kind for f in given})
        stated, given = _of(stated, comparable), _of(given, comparable)
    for fact in stated:
        if not matches(fact, given):
            yield Code.REPLY_UNGROUNDED, f"states what the original does not: {fact.text}"
    for fact in given:
        if not matches(fact, stated):
            yield Code.REPLY_UNCOVERED, f"does not state what the original does: {fact.text}"


def _of(found: Iterable[Fact], kinds: Collection[str]) -> list[Fact]:
    return [fact for fact in found if fact.kind in kinds]


def _names(
    original: str, draft: str, request: Mapping[str, Any], release: Release
) -> Iterator[tuple[Code, str]]:
    """Yield the agencies and services that only one of two texts names. What the entry itself is
    called may change with its translation."""
    view = release.in_language(request.get("language", ""))
    subject = {request["agency"], (request["agency"], request["service"])}
    given = [*_bearers(original, release, subject)]
    views = [release] if view is release else [release, view]
    stated = [name for names in views for name in _bearers(draft, names, subject)]
    for name, text in stated:
        if not any(name.bearers & other.bearers for other, _ in given):
            yield Code.SOURCES_UNKNOWN, f"names what the original does not: {text}"
    for name, text in given:
        if not any(name.bearers & other.bearers for other, _ in stated):
            yield Code.REPLY_UNCOVERED, f"does not name what the original does: {text}"


def _bearers(
    text: str, release: Release, without: Collection[Any]
) -> Iterator[tuple[Name[Any], str]]:
    found = named(text, release)
    names: list[Name[Any]] = [*found.agencies, *found.services]
    for name in names:
        if not name.bearers & set(without):
            yield name, text[name.start : name.end]


def _stage(id_: str, **rules: Any) -> Stage:
    # It has no turn: its input is the request's, and nothing is kept of it in a state.
    return Stage(id_, lambda _inputs: {}, lambda _output: {}, has_session=False, **rules)


DRAFTS: Mapping[str, Stage] = {
    QUESTIONS: _stage(QUESTIONS),
    PLAIN: _stage(PLAIN, semantics=_fields),
    TRANSLATION: _stage(TRANSLATION, semantics=_fields),
    entry_drafting.ENTRY: entry_drafting.STAGE,
}
"""Every contract of a draft by its id."""
