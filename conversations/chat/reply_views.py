"""A stored reply as it is shown: in whose language each part is, and under which heading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from conversations import page_languages
from conversations.chat import wording
from conversations.chat.reply_presenters import (
    CardView,
    FactView,
    NoticeView,
    ReplyView,
    SegmentView,
    SituationView,
    SourceView,
    StepCardView,
)
from conversations.chat.wording import Words
from conversations.models import Reply, ReplyOrigin, Turn
from conversations.turns import languages
from ieim.knowledge import selectors as knowledge
from ieim.llm.offline import NAME as OFFLINE
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.reply.cards import Card, Section, Source, card, read_on

OUTSIDE = _("A person can tell you who helps with it. You can also ask again in other words.")
ORDERED = frozenset({"how_to_apply"})
QUOTED = frozenset({"overview", "applicability_summary"})
"""The fields of which a sentence may lead an answer."""

HANDS: Mapping[str, str] = {
    ReplyOrigin.MODEL_APPROVED.value: "approved",
    ReplyOrigin.STAFF_OVERRIDE.value: "changed",
    ReplyOrigin.STAFF.value: "wrote",
}
"""What a person had to do with a reply, by its origin; ``none`` with any other."""


def reply_view(stored: Reply, turn: Turn, release: Release | None = None) -> ReplyView:
    """Return a reply as it is shown; ``release`` is for a turn whose own is none that is stored."""
    reply = replies.Reply.from_dict(stored.body)
    words = wording.words(page_languages.wording_language(reply.language or languages.written_in()))
    if reply.kind == "outside":
        reply = _in_words(reply, words)
    part_languages = {part: _spoken(reply, reply.original, part, words) for part in _parts(reply)}
    # Agencies are translated first; where nothing is, they are named as they are written too.
    release = release or knowledge.release(turn.release_number)
    lacks = ["agency"] if reply.language not in release.languages else []
    agency = _spoken(reply, lacks, "agency", words)
    return ReplyView(
        kind=reply.kind,
        title=reply.title,
        lead=reply.lead,
        paragraphs=reply.paragraphs,
        facts=_facts(reply, part_languages, words),
        sources=tuple(
            _source(s, part_languages.get("title", ""), agency, release) for s in reply.sources
        ),
        cards=tuple(_card(card, reply, words, agency, release) for card in reply.cards),
        uncovered=tuple(turn.text[start:end] for start, end in reply.uncovered),
        unanswered=reply.unanswered,
        unsaid=reply.unsaid,
        next_services=tuple(
            _next(service, reply, words, agency, release) for service in reply.next_services
        ),
        why=_why(reply, words) if stored.marked else "",
        segments=_segments(turn.text, stored.marked),
        origin=stored.origin,
        offline=stored.model == OFFLINE,
        language=words.language,
        notice=_notice(reply, words),
        languages={part: code for part, code in part_languages.items() if code and part in _FREE},
        agency_notices=tuple(
            NoticeView(
                words.notice_heading(n.agency_name), n.agency_name, n.text, languages.written_in()
            )
            for n in reply.notices
        ),
        still_about=reply.still_about,
        prepared=(reply.kind == "answer" and not reply.paragraphs)
        or guidance.is_prepared(reply, release),
        general=_is_general(reply),
        model=stored.model,
        release=turn.release_number,
        hand=HANDS.get(stored.origin, "none"),
        agencies=_agencies(reply, agency, release) if reply.kind == "outside" else (),
        deadline=words.limit(reply.deadline_days, reply.counted_from),
        situation=_situation(reply, words, agency, release),
    )


def _situation(
    reply: replies.Reply, words: Words, agency: str, release: Release
) -> SituationView | None:
    """Return the checklist of a situation, each service as its card."""
    checklist = reply.situation
    if checklist is None:
        return None
    translated = languages.in_language(release, reply.language)
    cards = []
    for line in checklist.lines:
        service = translated.services[line.source.agency_id, line.source.service_key]
        cards.append(card(service, translated.agencies[service.agency]))
    listed = replies.in_language(
        replies.Reply("answer", cards=tuple(cards)), reply.language, translated
    )
    return SituationView(
        key=checklist.key,
        name=checklist.name,
        language=_spoken(reply, ("situation",), "situation", words),
        is_open=checklist.is_open,
        steps=tuple(
            StepCardView(_card(step_card, reply, words, agency, release), line.condition)
            for step_card, line in zip(listed.cards, checklist.lines, strict=True)
        ),
    )


def _agencies(
    reply: replies.Reply, agency_language: str, release: Release
) -> tuple[SourceView, ...]:
    """Return the agencies that a reply names because no service is about the message."""
    paths = {agency.name: agency.path for agency in release.agencies.values()}
    names = [name for section in reply.sections for name in section.items]
    return tuple(
        SourceView(name, "", paths.get(name, ""), agency_language=agency_language) for name in names
    )


def _in_words(reply: replies.Reply, words: Words) -> replies.Reply:
    """Return the reply that no service is about the message, with the words for it."""
    agencies = Section("agencies", reply.unanswered, folded=True)
    return replace(
        reply,
        title=words.translate(_("We found no service about this")),
        paragraphs=(words.translate(OUTSIDE),),
        sections=(agencies,),
        unanswered=(),
    )


USUAL = ("requirements", "fees", "processing_time", "contact")
"""The fields of a service that are open where the citizen asked no particular question."""

MANY = 4
"""The number of facts from which on some of a service are folded."""


def _is_general(reply: replies.Reply) -> bool:
    """Whether a reply shows all of a service, because no particular fact was requested."""
    fields = {section.field for section in reply.sections}
    whole = reply.kind == "service" and not any(section.folded for section in reply.sections)
    return whole and len(fields) >= MANY and bool(reply.lead) and not fields.isdisjoint(USUAL)


Shown = tuple[str, str, str, int]
"""The key of a card on a page: agency, service, language, number of the release."""


def cards_of(stored: Reply, turn: Turn) -> set[Shown]:
    """Return the cards that a reply shows: none where it is free text."""
    body = stored.body
    services = [card["source"] for card in body.get("cards", ())]
    if body["kind"] == "service":
        services += body["sources"]
    language = body.get("language", "")
    return {(s["agency_id"], s["service_key"], language, turn.release_number) for s in services}


def without_repeating(view: ReplyView, stored: Reply, turn: Turn, above: Set[Shown]) -> ReplyView:
    """Return ``view`` without the cards that are shown ``above`` it already."""
    if not above:
        return view
    reply = replies.Reply.from_dict(stored.body)

    def is_repeated(source: Source) -> bool:
        card = (source.agency_id, source.service_key, reply.language, turn.release_number)
        return card in above

    cards = (
        replace(card, repeated=True, facts=_all_folded(card.facts, but=card.open[:1]))
        if is_repeated(source_card.source)
        else card
        for card, source_card in zip(view.cards, reply.cards, strict=True)
    )
    repeated = view.kind == "service" and all(map(is_repeated, reply.sources))
    facts = _all_folded(view.facts) if view.general and repeated else view.facts
    return replace(view, cards=tuple(cards), facts=facts, repeated=repeated)


def _all_folded(facts: Sequence[FactView], but: Sequence[FactView] = ()) -> tuple[FactView, ...]:
    return tuple(fact if fact in but else replace(fact, folded=True) for fact in facts)


_FREE = frozenset({"title", "lead", "paragraphs"})


def _card(
    card: Card, reply: replies.Reply, words: Words, agency: str, release: Release
) -> CardView:
    parts = _parts_of(card.title, card.lead, card.sections)
    part_languages = {part: _spoken(reply, card.original, part, words) for part in parts}
    return CardView(
        title=card.title,
        lead=card.lead,
        facts=tuple(_fact(section, part_languages, words) for section in card.sections),
        source=_source(card.source, part_languages.get("title", ""), agency, release),
        languages={part: code for part, code in part_languages.items() if code and part in _FREE},
        reference=card.source.reference,
        deadline=words.limit(card.deadline_days),
    )


def _facts(
    reply: replies.Reply, part_languages: Mapping[str, str], words: Words
) -> tuple[FactView, ...]:
    facts = [_fact(section, part_languages, words) for section in reply.sections]
    if _is_general(reply):
        facts = [replace(fact, folded=fact.name not in USUAL) for fact in facts]
    # What a description says of a question is no description: its whole stands folded below.
    repeated = [fact.name for fact in facts[1:]]
    if facts and not reply.lead and facts[0].name in QUOTED and facts[0].name in repeated:
        facts[0] = replace(facts[0], heading=words.translate(_("Answer")))
    return tuple(facts)


def _fact(section: Section, part_languages: Mapping[str, str], words: Words) -> FactView:
    field = section.field
    return FactView(
        words.heading(field),
        section.items,
        field in ORDERED,
        part_languages.get(field, ""),
        quoted=field.startswith("entity_"),
        folded=section.folded,
        name=field,
    )


def _source(source: Source, language: str, agency_language: str, release: Release) -> SourceView:
    service = release.services.get((source.agency_id, source.service_key))
    return SourceView(
        source.agency_name,
        source.service_name,
        source.url,
        language=language,
        agency_language=agency_language,
        starts=service is not None and source.url in {service.url, service.path} - {""},
        read_on=read_on(service, source.url) if service else None,
    )


def _next(
    source: Source, reply: replies.Reply, words: Words, agency: str, release: Release
) -> SourceView:
    """Return a service that comes next, in the language that its name is in."""
    fields = release.in_language(reply.language).translated.get(
        (source.agency_id, source.service_key), frozenset()
    )
    original = () if not reply.language or "name" in fields else ("next",)
    return _source(source, _spoken(reply, original, "next", words), agency, release)


def _parts(reply: replies.Reply) -> frozenset[str]:
    """Return the parts of a reply that have words of ours: none of a citizen's own message."""
    parts = _parts_of(reply.title, reply.lead, reply.sections)
    return parts | ({"paragraphs"} if reply.paragraphs else frozenset())


def _parts_of(title: str, lead: str, sections: Sequence[Section]) -> frozenset[str]:
    fields = {s.field for s in sections if not s.field.startswith("entity_")}
    return frozenset(fields | ({"title"} if title else set()) | ({"lead"} if lead else set()))


def _spoken(reply: replies.Reply, original: Iterable[str], part: str, words: Words) -> str:
    """Return the language of a part, empty where it is that of the fixed words."""
    written = languages.written_in()
    code = written if part in original else reply.language or written
    return "" if code == detected_code(words.language) else code


def _notice(reply: replies.Reply, words: Words) -> str:
    """Return the sentence that a reply is not available in the citizen's language."""
    original = [*reply.original, *(part for card in reply.cards for part in card.original)]
    if not original or reply.kind not in ("service", "answer"):
        return ""
    cards = ((_parts_of(c.title, c.lead, c.sections), c.original) for c in reply.cards)
    both = ((_parts(reply), reply.original), *cards)
    whole = all(parts <= set(untranslated) for parts, untranslated in both)
    return words.only_in(languages.written_in(), whole=whole)


def _why(reply: replies.Reply, words: Words) -> str:
    if not reply.sources:
        return ""
    opening, closing = words.quotes
    names = (f"{opening}{s.service_name}{closing} ({s.agency_name})" for s in reply.sources)
    opening_words, closing_words = words.around_names
    return opening_words + words.translate(_(" and ")).join(names) + closing_words


def _segments(text: str, marked: list[list[int]]) -> tuple[SegmentView, ...]:
    segments, position = [], 0
    for start, end in marked:
        if start > position:
            segments.append(SegmentView(text[position:start], False))
        segments.append(SegmentView(text[start:end], True))
        position = end
    if position < len(text):
        segments.append(SegmentView(text[position:], False))
    return tuple(segments)
