"""What is different between the two sides, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from ieim.pipeline.reply.plain_text import first_sentence
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview
from ieim.studio.trying.comparing import Side
from ieim.studio.trying.presenters import ending
from ieim.studio.trying.words import parts_of


@dataclass(frozen=True, slots=True)
class Changed:
    """One part of the reply that both sides have or one of them; empty where it has not."""

    heading: str
    published: str
    draft: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The sentence that says it all, and what differs in the reply, part by part."""

    sentence: str
    parts: tuple[Changed, ...] = ()


def difference(draft: Side, published: Side | None, *, current: int | None) -> Difference:
    """Return what would be different if the draft were published.

    ``current`` is the number of the current release, None before the first.
    """
    if published is None:
        if current is None:
            return Difference(
                gettext("Nothing is published yet, so there is nothing to compare with.")
            )
        told = gettext("The draft is the same as release {number}: nothing would change.")
        return Difference(told.format(number=current))
    ours, theirs = _reply(draft), _reply(published)
    same_kind = type(draft.asked.outcome) is type(published.asked.outcome)
    if ours is None or theirs is None or not same_kind:
        if _stopped_alike(draft, published):
            return Difference(gettext("Nothing changes: a person would get the question, as now."))
        if _asked_alike(draft, published):
            return Difference(
                gettext("Nothing changes: the citizen would be asked to choose, as now.")
            )
        return _changes(draft, published)
    parts = tuple(_parts(ours, theirs))
    if ours == theirs:
        return Difference(gettext("Nothing changes: the reply is the same, word for word."))
    if _sources(ours) != _sources(theirs):
        return _changes(draft, published, parts)
    where = ", ".join(f"“{part.heading}”" for part in parts) or gettext("its links")
    told = gettext("It is still the same service, but the reply differs in {where}.")
    return Difference(told.format(where=where), parts)


def _changes(draft: Side, published: Side, parts: tuple[Changed, ...] = ()) -> Difference:
    told = gettext("It changes. Now: {now}. With the draft: {then}.")
    return Difference(told.format(now=ending(published), then=ending(draft)), parts)


def _reply(side: Side) -> Reply | None:
    outcome = side.asked.outcome
    return outcome.reply if isinstance(outcome, Answered | Held) else None


def _stopped_alike(one: Side, other: Side) -> bool:
    first, second = one.asked.outcome, other.asked.outcome
    return (
        isinstance(first, NeedsReview)
        and isinstance(second, NeedsReview)
        and first.stage == second.stage
    )


def _asked_alike(one: Side, other: Side) -> bool:
    first, second = one.asked.outcome, other.asked.outcome
    if not isinstance(first, Abstained) or not isinstance(second, Abstained):
        return False
    # By what the citizen reads of them: the fee of one does not stand there.
    shown = [
        [(each.agency, each.key, each.name, first_sentence(each.overview)) for each in side.offered]
        for side in (first, second)
    ]
    return shown[0] == shown[1]


def _sources(said: Reply) -> list[tuple[str, str]]:
    return [(source.agency_id, source.service_key) for source in said.sources]


def _parts(ours: Reply, theirs: Reply) -> Iterator[Changed]:
    drafted, public = dict(parts_of(ours)), dict(parts_of(theirs))
    for heading in dict.fromkeys([*public, *drafted]):
        before, after = public.get(heading, ""), drafted.get(heading, "")
        if before != after:
            yield Changed(gettext(heading), before, after)
