"""What leads a reply about one service: the passages of its entry that answer the message.

They are quoted as they stand, and the rest of the entry is folded. Where a message asks something
and no passage answers it, the reply says so and shows whom to ask, never a card of folded headings
(docs/decisions/0042-passages.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import DEADLINE, Passage, Passages
from ieim.pipeline.reply.cards import FACTS, Section, lead
from ieim.pipeline.reply.reply import in_language
from ieim.pipeline.sentences import sentences

if TYPE_CHECKING:
    from ieim.pipeline.reply.reply import Reply
    from ieim.pipeline.stages.base import Inputs

WHOLE: Final = frozenset({"fees", "processing_time", "contact"})
"""Fields that are quoted whole: what a price depends on belongs to it."""

LISTS: Final = frozenset({"requirements", "how_to_apply"})
"""Fields that are quoted whole where all of them was asked for, else item by item."""

MOST: Final = 2
CLOSE: Final = 1.0
"""So many passages lead, the second one only where it is as good an answer but for this."""

FEW: Final = 3
"""A model that opens its reply with so many fields at most says what was asked, better than any
search does; with more it opens by habit."""

CONTACT: Final = "contact"


def lead_with_answer(reply: Reply, inputs: Inputs) -> Reply:
    """Return ``reply`` with the passages in front that answer the message of ``inputs``.

    A reply about a service alone; others stay as they are, and so do those for which a model has
    chosen what they open with. Who asks for the service as a whole reads what to do first.
    """
    if reply.cards:
        return _with_asked_fields(reply, inputs)
    if reply.kind != "service" or not reply.sources or reply.is_about_agency:
        return reply
    source, release = reply.sources[0], inputs.context.release
    service = release.services[source.agency_id, source.service_key]
    passages = inputs.shortlist.passages(inputs.text, service)
    if passages is None:
        return reply
    in_talk = bool(reply.still_about)
    whole = in_language(replace(reply, lead=lead(service)), reply.language, release)
    if not (in_talk or passages.fields or passages.question):
        return whole
    opens = [section.field for section in reply.sections if not section.folded]
    has_limit = DEADLINE in passages.fields and service.deadline_days
    mistaken = has_limit and opens[:1] == ["processing_time"]
    if len(opens) <= FEW and len(opens) < len(reply.sections) and not mistaken:
        return reply
    shown_fields = {section.field for section in reply.sections}
    ranked = [passage for passage in passages.ranked if passage.field in shown_fields]
    best = ranked[0].score if ranked else passages.least - 1
    asks = bool(passages.fields) or (passages.question and (in_talk or best >= passages.sure))
    if not asks and not (in_talk and best >= passages.least):
        return whole
    if best >= passages.least:
        most = MOST if asks else 1
        leading = [
            candidate
            for candidate in ranked[:most]
            if candidate.score >= max(best - CLOSE, passages.least)
        ]
        quoted = list(_sections(leading, passages, service))
        if best < passages.sure:
            quoted += _whole(reply, {CONTACT} - {section.field for section in quoted})
        return replace(reply, lead="", sections=(*quoted, *_folded(reply, quoted)))
    contact = list(_whole(reply, {CONTACT}))
    return replace(reply, lead="", unsaid=True, sections=(*contact, *_folded(reply, contact)))


def rearranges(led: Reply, composed: Reply, release: Release) -> bool:
    """Whether ``led`` shows what ``composed`` does and nothing else: its passages, or what to do
    first, may stand in front, and its cards and its fields may be in another order, or folded."""
    whole_cards = {card.source: card for card in composed.cards}
    if {card.source for card in led.cards} != whole_cards.keys():
        return False
    cards = [(shown_card, whole_cards[shown_card.source]) for shown_card in led.cards]
    cited = [release.services.get((s.agency_id, s.service_key)) for s in composed.sources]
    return (
        led.lead in {"", composed.lead, *(lead(service) for service in cited if service)}
        and _is_of(led.sections, composed.sections)
        and all(
            shown_card.deadline_days == whole.deadline_days
            and _is_of(shown_card.sections, whole.sections)
            for shown_card, whole in cards
        )
    )


def _is_of(sections: Sequence[Section], whole: Sequence[Section]) -> bool:
    texts = {section.field: " ".join(" ".join(section.items).split()) for section in whole}
    return {section.field for section in sections} == texts.keys() and all(
        " ".join(item.split()) in texts[section.field]
        for section in sections
        for item in section.items
    )


def _with_asked_fields(reply: Reply, inputs: Inputs) -> Reply:
    """Return an answer over several services, each card of which opens with the fields that the
    message clearly asks for; what is asked of one is mostly asked of each."""
    first = reply.cards[0].source
    service = inputs.context.release.services[first.agency_id, first.service_key]
    passages = inputs.shortlist.passages(inputs.text, service)
    fields = [field for field in passages.fields if field in FACTS] if passages else []
    cards = []
    for card in reply.cards:
        of_field = {section.field: section for section in card.sections}
        opens = [replace(of_field[field], folded=False) for field in fields if field in of_field]
        others = [section for section in card.sections if section.field not in fields]
        cards.append(replace(card, sections=(*opens, *others)))
    return replace(reply, cards=tuple(cards))


def _sections(
    leading: Sequence[Passage], passages: Passages, service: Service
) -> Iterator[Section]:
    """Yield a section for each field of the passages that lead, in their order."""
    for field in dict.fromkeys(passage.field for passage in leading):
        value = getattr(service, field)
        items = [value] if isinstance(value, str) else list(value)
        if field in WHOLE or (field in LISTS and field in passages.fields):
            yield Section(field, tuple(" ".join(item.split()) for item in items))
            continue
        chosen = [passage.text for passage in leading if passage.field == field]
        field_sentences = [
            item[start:end]
            for item in (" ".join(sentence.split()) for sentence in items)
            for start, end in sentences(item)
        ]
        places = {field_sentences.index(text) for text in chosen}
        if field not in LISTS:  # a sentence may speak of the one before it
            places |= {index - 1 for index in places if index}
        quoted = [field_sentences[index] for index in sorted(places)]
        yield Section(field, tuple(quoted) if field in LISTS else (" ".join(quoted),))


def _whole(reply: Reply, fields: set[str]) -> Iterator[Section]:
    return (replace(section, folded=False) for section in reply.sections if section.field in fields)


def _folded(reply: Reply, open_ones: Sequence[Section]) -> Iterator[Section]:
    """Yield the sections of ``reply``, folded, but for those that stand open as a whole."""
    whole = {(one.field, one.items) for one in open_ones}
    for section in reply.sections:
        if (section.field, section.items) not in whole:
            yield replace(section, folded=True)
