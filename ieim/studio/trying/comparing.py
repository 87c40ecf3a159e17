"""Compares two outcomes of a question: in words for the playground, as codes for a golden run.

The outcome of a golden question is a JSON object: ``verdict`` (right, wrong, review or
unlabelled), ``outcome``, ``agency``, ``service`` (names, empty where there is none), ``lead`` (how
the reply begins), ``reply`` (its digest), ``parts`` (digests by heading), ``stage``, ``reason`` and
``codes`` where a person gets the question. What changes is stored by headings, which are translated
where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import Section
from ieim.pipeline.reply.plain_text import first_sentence
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview
from ieim.studio.evaluation.outcomes import CaseResult, change_of, changed_parts
from ieim.studio.labels import stage_label
from ieim.studio.trying.asking import Side

Outcome = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "worse": gettext_noop("Get worse"),
    "review": gettext_noop("Move to review"),
    "better": gettext_noop("Get better"),
    "other": gettext_noop("Answered differently, as right or wrong as before"),
    "same": gettext_noop("Unchanged"),
}
"""The kinds of change, worst first."""

_LEAD_CHARS = 300


def parts_of(reply: Reply) -> Iterator[tuple[str, str]]:
    """Yield the parts of a reply as ``(heading, text)``, empty ones too."""
    yield gettext_noop("Title"), reply.title
    yield gettext_noop("What to do first"), reply.lead
    yield gettext_noop("Text"), "\n".join(reply.paragraphs)
    yield from _sections("", reply.sections)
    for card in reply.cards:
        yield f"{card.title}: what to do first", card.lead
        yield from _sections(f"{card.title}: ", card.sections)


def _sections(before: str, sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        heading = HEADINGS.get(section.field, section.field.replace("_", " ").capitalize())
        yield f"{before}{heading}", "\n".join(section.items)


def outcome_of(result: CaseResult, release: Release) -> dict[str, Any]:
    """Return a case's result as the outcome of a golden question; no word of it is in there."""
    turn, reply = result.turn, result.turn.reply
    agency, key = turn.cited[0] if turn.cited else turn.service or ("", "")
    if not agency and len(turn.agencies) == 1:
        (agency,) = turn.agencies
    service = release.services.get((agency, key))
    parts = {} if reply is None else dict(parts_of(reply))
    return {
        "verdict": result.verdict,
        "outcome": turn.outcome,
        "agency": release.agencies[agency].name if agency in release.agencies else agency,
        "service": service.name if service else key,
        "lead": "" if reply is None else _lead(reply),
        "reply": "" if reply is None else digest(reply.as_dict()),
        "parts": {heading: digest(text)[:16] for heading, text in parts.items() if text},
        "stage": turn.stage,
        "reason": turn.reason,
        "codes": list(turn.codes),
    }


def _lead(reply: Reply) -> str:
    opened = (item for section in reply.sections if not section.folded for item in section.items)
    text = reply.lead or next(iter(reply.paragraphs), None) or next(opened, reply.title)
    return text if len(text) <= _LEAD_CHARS else f"{text[:_LEAD_CHARS]} …"


def kind_of(before: Outcome | None, after: Outcome) -> str:
    """Return the kind of change; None before the first release: it counts as nothing answered."""
    kind = change_of("review" if before is None else before["verdict"], after["verdict"])
    if kind == "same" and before is not None and before["reply"] != after["reply"]:
        return "other"
    return kind


def differs(before: Outcome | None, after: Outcome) -> list[str]:
    """Return the headings of the parts in which two replies differ; empty without two replies."""
    if before is None or not before["parts"] or not after["parts"]:
        return []
    return changed_parts(before["parts"], after["parts"])


def is_loss(before: Outcome | None, after: Outcome) -> bool:
    """Whether somebody has to say why this is published all the same.

    It was right and is not any more; or a person had it, and now the citizen gets a wrong answer.
    """
    if before is None:
        return False
    change = (before["verdict"], after["verdict"])
    return change in {("right", "wrong"), ("right", "review"), ("review", "wrong")}


@dataclass(frozen=True, slots=True)
class Changed:
    """A part of the reply that differs; empty where a side does not have it."""

    heading: str
    published: str
    draft: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A sentence for the whole, and the parts in which the replies differ."""

    sentence: str
    parts: tuple[Changed, ...] = ()


def difference(draft: Side, published: Side | None, *, current: int | None) -> Difference:
    """Return what would be different if the draft were published.

    ``current`` is the number of the current release, None before the first.
    """
    if published is None and current is None:
        return Difference(gettext("Nothing is published yet, so there is nothing to compare with."))
    if published is None:
        message = gettext("The draft is the same as release {number}: nothing would change.")
        return Difference(message.format(number=current))
    new, old = _reply(draft), _reply(published)
    if new is None or old is None or type(draft.run.outcome) is not type(published.run.outcome):
        return _other_ending(draft, published)
    if new == old:
        return Difference(gettext("Nothing changes: the reply is the same, word for word."))
    after, before = dict(parts_of(new)), dict(parts_of(old))
    parts = tuple(
        Changed(gettext(heading), before.get(heading, ""), after.get(heading, ""))
        for heading in changed_parts(before, after)
        if before.get(heading, "") != after.get(heading, "")
    )
    if _sources(new) != _sources(old):
        return _changes(draft, published, parts)
    where = ", ".join(f"“{part.heading}”" for part in parts) or gettext("its links")
    message = gettext("It is still the same service, but the reply differs in {where}.")
    return Difference(message.format(where=where), parts)


def _other_ending(draft: Side, published: Side) -> Difference:
    """Return the difference where one side at least has no reply, or holds it."""
    then, now = draft.run.outcome, published.run.outcome
    if isinstance(then, NeedsReview) and isinstance(now, NeedsReview) and then.stage == now.stage:
        return Difference(gettext("Nothing changes: a person would get the question, as now."))
    both = isinstance(then, Abstained) and isinstance(now, Abstained)
    if both and _offered(then) == _offered(now):
        return Difference(gettext("Nothing changes: the citizen would be asked to choose, as now."))
    return _changes(draft, published)


def _changes(draft: Side, published: Side, parts: tuple[Changed, ...] = ()) -> Difference:
    message = gettext("It changes. Now: {now}. With the draft: {then}.")
    return Difference(message.format(now=ending(published), then=ending(draft)), parts)


def _reply(side: Side) -> Reply | None:
    outcome = side.run.outcome
    return outcome.reply if isinstance(outcome, Answered | Held) else None


def _offered(outcome: Any) -> list[tuple[str, ...]]:
    """Return what the citizen reads of the services to choose from."""
    return [
        (each.agency, each.key, each.name, first_sentence(each.overview))
        for each in outcome.offered
    ]


def _sources(reply: Reply) -> list[tuple[str, str]]:
    return [(source.agency_id, source.service_key) for source in reply.sources]


def ending(side: Side) -> str:
    """Return how a side ended, as a sentence without a capital and a full stop."""
    outcome = side.run.outcome
    if isinstance(outcome, NeedsReview):
        message = gettext("a person would get the question. It stopped at “{step}”")
        return message.format(step=stage_label(outcome.stage))
    if isinstance(outcome, Abstained):
        names = ", ".join(f"“{service.name}”" for service in outcome.offered)
        message = gettext("the citizen would be asked to choose from {services}")
        return message.format(services=names)
    assert outcome is not None  # noqa: S101  # ask_both gives no other
    sources = dict.fromkeys(
        f"“{each.service_name}” ({each.agency_name})" for each in outcome.reply.sources
    )
    held = isinstance(outcome, Held)
    if not sources and held:
        return gettext(
            "a person would have to let this reply go out: words of guidance, with no service"
        )
    if not sources:
        return gettext("the citizen would get words of guidance, with no service")
    message = (
        gettext("a person would have to let this reply go out: an answer from {services}")
        if held
        else gettext("the citizen would get an answer from {services}")
    )
    return message.format(services=gettext(" and ").join(sources))
