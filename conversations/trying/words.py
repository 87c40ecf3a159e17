"""What editors read instead of codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from conversations.services import REPLY
from conversations.showing import HEADINGS
from ieim.pipeline.cards import Section
from ieim.pipeline.reply import Reply

STAGES: Mapping[str, str] = {
    "judgement_v1": "Is it a question for us?",
    "agency_detect_v1": "Which agency?",
    "category_select_v1": "Which topic?",
    "semantic_analysis_v1": "Which topics at each agency?",
    "service_select_v1": "Which service?",
    "multi_agency_service_answer_v1": "One answer from several agencies",
    "classify": "Intent, product and urgency",
    "extract": "Facts in the message",
    "identity_assist": "Numbers and names that identify",
    REPLY: "The reply as a whole",
}


def stage_words(stage: str) -> str:
    """Return what a stage is about; a stage that has no words is shown by its id."""
    return STAGES.get(stage, stage)


def parts_of(said: Reply) -> Iterator[tuple[str, str]]:
    """Yield the parts of a reply as ``(heading, text)``, empty ones too."""
    yield "Title", said.title
    yield "What to do first", said.lead
    yield "Text", "\n".join(said.paragraphs)
    yield from _sections("", said.sections)
    for card in said.cards:
        yield f"{card.title}: what to do first", card.lead
        yield from _sections(f"{card.title}: ", card.sections)


def _sections(before: str, sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        heading = HEADINGS.get(section.field, section.field.replace("_", " ").capitalize())
        yield f"{before}{heading}", "\n".join(section.items)
