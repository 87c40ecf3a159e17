"""What a model is given for a draft, and what only the studio can check of its answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from conversations.turns.languages import written_in
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.questions import Questions, folded, without_personal_data
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate.grounding import named
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages import drafting
from ieim.pipeline.stages.base import Output
from ieim.studio.drafts.translations import Owner, kind_of, source_texts
from ieim.studio.models import DraftingRun
from ieim.studio.translating.selectors import target_languages

CONTRACTS: Mapping[str, str] = {
    DraftingRun.Kind.QUESTIONS: drafting.QUESTIONS,
    DraftingRun.Kind.PLAIN: drafting.PLAIN,
    DraftingRun.Kind.TRANSLATION: drafting.TRANSLATION,
}
PLAIN = ("overview", "applicability_summary", "requirements", "how_to_apply")
"""The fields that are put into plain language: the others are facts."""


def texts_of(release: Release, owner: Owner, kind: str) -> dict[str, str | list[str]]:
    """Return the texts that a draft of a ``kind`` is about, by field; blank ones are left out.

    Raises:
        KeyError: there is no such agency, category or service.
    """
    agency, category, service = owner
    original: object = release.agencies[agency]
    if category:
        original = release.categories[agency, category]
    elif service:
        original = release.services[agency, service]
    texts = source_texts(original, kind_of(owner))
    only = PLAIN if kind == DraftingRun.Kind.PLAIN else texts
    return {name: text for name, text in texts.items() if name in only and "".join(text).strip()}


def payload(run: DraftingRun, bundle: Bundle, release: Release) -> dict[str, Any]:
    """Return the per-call JSON of a run."""
    texts = run.seen["texts"]
    about = {"agency": run.agency, "service": run.service}
    if run.kind == DraftingRun.Kind.QUESTIONS:
        languages = question_languages(bundle)
        of_service = (q for q in bundle.questions if (q.agency, q.service) == run.owner[::2])
        existing = [question.text for question in of_service]
        return {**about, "service_texts": texts, "languages": languages, "existing": existing}
    fields = [
        {"field": name, "lines": text.splitlines() if isinstance(text, str) else text}
        for name, text in texts.items()
    ]
    whole = "\n".join(line for field in fields for line in field["lines"])
    names = list(_names(whole, release, run.language))
    target = {"language": run.language} if run.language else {}
    return {**about, **target, "fields": fields, "names": names}


def question_languages(bundle: Bundle) -> list[str]:
    """Return the languages that example questions are drafted in."""
    return [written_in(), *target_languages(bundle)]


def _names(text: str, release: Release, language: str) -> Iterator[dict[str, str]]:
    """Yield the agencies and services that a text names, and what they are called in a language."""
    view, found = release.in_language(language), named(text, release)
    for agency in dict.fromkeys(id_ for name in found.agencies for id_ in sorted(name.bearers)):
        yield {"name": release.agencies[agency].name, "called": view.agencies[agency].name}
    for key in dict.fromkeys(key for name in found.services for key in sorted(name.bearers)):
        yield {"name": release.services[key].name, "called": view.services[key].name}


def question_findings(
    output: Output, *, owner: Owner, bundle: Bundle, golden: Collection[str]
) -> Iterator[Finding]:
    """Yield what is wrong with drafted questions: a language that was not asked for, somebody's
    data, the text of a golden question (``golden`` are folded), or one that is there already."""
    questions, texts = Questions(), {folded(question.text) for question in bundle.questions}
    columns = IDENTITY["questions"]
    for question in bundle.questions:
        questions.add({name: getattr(question, name) for name in columns})
    agency, _, service = owner
    for i, question in enumerate(output["questions"]):
        path, text = pointer("questions", i, "text"), question["text"]
        if question["language"] not in question_languages(bundle):
            message = f"The language {question['language']} was not asked for."
            yield Finding(Code.LABEL_UNKNOWN, pointer("questions", i, "language"), message)
        try:
            without_personal_data(text)
        except ValueError as error:
            yield Finding(Code.VALUE_UNMASKED, path, f"The question {error}.")
        row = {"agency": agency, "service": service, "situation": "", "text": text}
        conflict, too_many = questions.add(row)
        if conflict:
            yield Finding(Code.KNOWLEDGE_MISMATCH, path, f"“{text}” {conflict}.")
        elif folded(text) in golden:
            yield Finding(Code.KNOWLEDGE_MISMATCH, path, f"“{text}” is a golden question.")
        elif folded(text) in texts:
            yield Finding(Code.KNOWLEDGE_MISMATCH, path, f"“{text}” is there already.")
        if too_many:
            yield Finding(Code.KNOWLEDGE_MISMATCH, path, f"{too_many}.")
        texts.add(folded(text))


def result_of(output: Output, texts: Mapping[str, str | Sequence[str]]) -> dict[str, Any]:
    """Return an answer that passed as the ``result`` of a run."""
    if "questions" in output:
        return {"questions": [dict(question) for question in output["questions"]]}
    return {
        "fields": {
            entry["field"]: "\n".join(entry["lines"])
            if isinstance(texts[entry["field"]], str)
            else list(entry["lines"])
            for entry in output["fields"]
        }
    }
