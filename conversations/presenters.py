"""What the chat page shows, as plain values: the templates' whole vocabulary."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class StepView:
    """One step in the citizen's words; ``status`` is what the marker shows."""

    words: str
    status: Literal["pending", "running", "done", "stopped"]


@dataclass(frozen=True, slots=True)
class FactView:
    """A heading with one paragraph or several list items."""

    heading: str
    items: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class SourceView:
    """Where an answer comes from; ``url`` is empty when there is no page to link to."""

    agency: str
    service: str
    url: str


@dataclass(frozen=True, slots=True)
class SegmentView:
    """A run of the citizen's own message; ``marked`` runs led to the answer."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A gated reply."""

    kind: Literal["service", "answer", "guidance", "question"]
    title: str
    lead: str
    paragraphs: tuple[str, ...]
    facts: tuple[FactView, ...]
    sources: tuple[SourceView, ...]
    why: str
    segments: tuple[SegmentView, ...]
    origin: str
    offline: bool

    @property
    def has_marks(self) -> bool:
        """Whether any of the citizen's own words led to the answer."""
        return any(segment.marked for segment in self.segments)

    def growing(self) -> Iterator[ReplyView]:
        """Yield the reply as it builds up on a live page: first its lead, then part by part.

        The whole reply is not among them: its last part comes with the finished page.
        """
        bare = replace(self, paragraphs=(), facts=(), sources=())
        yield bare
        for count in range(1, len(self.paragraphs) + 1):
            yield replace(bare, paragraphs=self.paragraphs[:count])
        for count in range(1, len(self.facts) + 1):
            yield replace(bare, paragraphs=self.paragraphs, facts=self.facts[:count])


@dataclass(frozen=True, slots=True)
class TurnView:
    """One question with its progress and what came of it.

    ``state`` is the turn's state; exactly one of ``reply`` and "held" (``needs_review``) is shown
    at the end, steps before.
    """

    id: UUID
    number: int
    text: str
    asked_at: datetime
    state: str
    steps: tuple[StepView, ...]
    reply: ReplyView | None
    contacts: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether the citizen still waits for the pipeline."""
        return self.state in {"queued", "running", "awaiting_model"}

    @property
    def dom_id(self) -> str:
        """The HTML id of the turn's article."""
        return f"turn-{self.id}"


@dataclass(frozen=True, slots=True)
class ChatView:
    """The whole page; ``reference`` and ``resume_path`` are empty before the first message."""

    reference: str
    resume_path: str
    turns: tuple[TurnView, ...]
    suggestions: tuple[str, ...]
    limit: int
    offline: bool
    error: str = ""
    draft: str = ""

    @property
    def pending(self) -> bool:
        """Whether the session's last question is still being worked on."""
        return any(turn.pending for turn in self.turns)

    @property
    def version(self) -> str:
        """A name for this state of the conversation: equal states have equal names."""
        state = repr(replace(self, error="", draft=""))
        return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def waiting_for_model(self) -> bool:
        """Whether that question waits for a model that cannot be reached."""
        return any(turn.state == "awaiting_model" for turn in self.turns)
