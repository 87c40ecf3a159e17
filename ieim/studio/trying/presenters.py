"""What the playground shows of one side, as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext

from conversations.chat import showing, wording
from conversations.chat.presenters import StepView, TurnView
from conversations.chat.replies import ReplyView
from conversations.models import Reply, ReplyOrigin, Turn
from conversations.turns import help_lines, languages, resuming
from ieim.knowledge import crisis
from ieim.knowledge.notices import selectors as notices
from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import FLOW, STAGES
from ieim.pipeline.work import Abstained, Answered, AttemptRecord, Held, NeedsReview
from ieim.studio.labels import stage_label
from ieim.studio.models import GoldenQuestion
from ieim.studio.trying.comparing import Side
from ieim.studio.trying.shortlists import Shown, shown

LONGEST = 20_000
"""Characters of a faulty answer that are shown."""


@dataclass(frozen=True, slots=True)
class CallView:
    """One call of the model: what it was given and what it said.

    Tokens are the server's own count; ``bound`` is our upper bound of what was sent.
    """

    number: int
    given: str
    said: str
    findings: tuple[Finding, ...]
    seconds: str
    temperature: str
    read: int | None
    cached: int | None
    written: int | None
    bound: int


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage; ``findings`` are those for which the model was not asked (again)."""

    contract: str
    words: str
    passed: bool
    findings: tuple[Finding, ...]
    calls: tuple[CallView, ...]
    shortlists: tuple[Shown, ...]

    @property
    def tokens(self) -> int:
        """The tokens of all calls, by the bound where the server gave no count."""
        return sum(
            (call.bound if call.read is None else call.read) + (call.written or 0)
            for call in self.calls
        )


@dataclass(frozen=True, slots=True)
class SideView:
    """One side: how it ended in a sentence, its stages, the reply as the citizen would see it.

    ``held`` says that the reply would wait for a person. ``turn`` is what the citizen's templates
    ask for.
    """

    which: str
    title: str
    ending: str
    findings: tuple[Finding, ...]
    held: bool
    reply: ReplyView | None
    turn: TurnView
    stages: tuple[StageView, ...]

    @property
    def tokens(self) -> int:
        """The tokens of all stages."""
        return sum(stage.tokens for stage in self.stages)


def side_view(side: Side, text: str) -> SideView:
    """Return what is shown of one side of a question ``text``."""
    outcome, store = side.asked.outcome, side.asked.store
    said = outcome.reply if isinstance(outcome, Answered | Held) else None
    reply = None if said is None else reply_view(said, side, text)
    contracts = [name for name in STAGES if name in store.records or name in store.unasked]
    return SideView(
        which=side.which,
        title=_title(side),
        ending=capfirst(ending(side)),
        findings=() if outcome is None or isinstance(outcome, Answered) else outcome.findings,
        held=isinstance(outcome, Held),
        reply=reply,
        turn=_turn_view(side, text, reply),
        stages=tuple(_stage(name, side) for name in contracts),
    )


def reply_view(said: replies.Reply, side: Side, text: str) -> ReplyView:
    """Return a reply as the chat page would show it; the rows behind it are never saved."""
    turn = Turn(text=text, release_number=side.release.number, language=side.language)
    shown = replace(said, notices=notices.of_reply(said.sources, timezone.now()))
    stored = Reply(
        turn=turn,
        origin=ReplyOrigin.MODEL.value,
        body=shown.as_dict(),
        marked=resuming.marked(text, said, side.release),
        model=side.model,
    )
    return showing.reply_view(stored, turn, side.release)


def ending(side: Side) -> str:
    """Return how a side ended, as a sentence without a capital and a full stop."""
    outcome = side.asked.outcome
    if isinstance(outcome, NeedsReview):
        told = gettext("a person would get the question. It stopped at “{step}”")
        return told.format(step=stage_label(outcome.stage))
    if isinstance(outcome, Abstained):
        names = ", ".join(f"“{service.name}”" for service in outcome.offered)
        told = gettext("the citizen would be asked to choose from {services}")
        return told.format(services=names)
    assert outcome is not None  # noqa: S101  # ask_both gives no other
    sources = dict.fromkeys(
        f"“{each.service_name}” ({each.agency_name})" for each in outcome.reply.sources
    )
    held = isinstance(outcome, Held)
    if not sources:
        return (
            gettext(
                "a person would have to let this reply go out: words of guidance, with no service"
            )
            if held
            else gettext("the citizen would get words of guidance, with no service")
        )
    told = (
        gettext("a person would have to let this reply go out: an answer from {services}")
        if held
        else gettext("the citizen would get an answer from {services}")
    )
    return told.format(services=gettext(" and ").join(sources))


def _title(side: Side) -> str:
    if side.which == "draft":
        return gettext("The draft")
    return gettext("Published: release {number}").format(number=side.release.number)


def _turn_view(side: Side, text: str, reply: ReplyView | None) -> TurnView:
    words = wording.words(side.language or languages.written_in())
    looked = crisis.look_patiently(text, side.release.risk_examples)
    steps = [each.id for each in FLOW if each.id in side.asked.store.records]
    return TurnView(
        id=uuid4(),
        number=1,
        text=text,
        asked_at=timezone.now(),
        state="answered" if reply else "needs_review",
        steps=tuple(StepView(words.steps[name], "done", words.language) for name in steps),
        reply=reply,
        contacts=help_lines.contacts(
            [each.code for each in looked.risks],
            side.release,
            side.language,
            text=text,
        ),
    )


def _stage(name: str, side: Side) -> StageView:
    store = side.asked.store
    records = store.records.get(name, [])
    return StageView(
        contract=name,
        words=stage_label(name),
        passed=bool(records) and records[-1].stands.passed,
        findings=tuple(store.unasked.get(name, ())),
        calls=tuple(map(_call, records)),
        shortlists=shown(name, side.shortlist, store),
    )


def _call(record: AttemptRecord) -> CallView:
    return CallView(
        number=record.number,
        given=pretty(record.request.messages[2].content),
        said=_said(record),
        findings=record.judgement.findings,
        seconds=f"{record.seconds:.1f}",
        temperature=f"{record.request.temperature:.2f}",
        read=record.answer.prompt_tokens,
        cached=record.answer.cached_tokens,
        written=record.answer.completion_tokens,
        bound=record.count.input,
    )


def _said(record: AttemptRecord) -> str:
    """Return what a model said: formatted where nothing was wrong with it, else as it came.

    What a browser cannot be sent (lone surrogates, NUL) is replaced.
    """
    raw = record.answer.raw
    if record.judgement.passed:
        return pretty(raw)
    cut_here = gettext("(cut here)")
    cut = raw if len(raw) <= LONGEST else f"{raw[:LONGEST]} … {cut_here}"
    return cut.encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def pretty(text: str) -> str:
    """Return JSON text with line breaks and indents."""
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A golden question in a list; ``expects`` says what is right, in words."""

    question: GoldenQuestion
    text: str
    expects: str
    note: str
    talk: bool


def question_view(question: GoldenQuestion, release: Release | None) -> QuestionView:
    """Return a golden question as it is listed; names come from ``release``."""
    case = question.case
    return QuestionView(
        question=question,
        text=case["text"],
        expects=_expects(case["expected"], release),
        note=case.get("note", ""),
        talk=bool(case["history"]),
    )


def _expects(expected: Mapping[str, Any], release: Release | None) -> str:
    if not expected["inquiry"]:
        return gettext("Not an inquiry")
    agencies, services = expected["agencies"], expected.get("acceptable_services") or []
    if agencies == [] and not services:
        return gettext("A person looks at it: nothing here answers it")
    offices = {} if release is None else release.agencies
    known = {} if release is None else release.services
    names = [offices[agency].name if agency in offices else agency for agency in agencies or ()]
    pairs = [(agency, key) for agency in agencies or () for key in services]
    called = {pair[1]: known[pair].name for pair in pairs if pair in known}
    words = gettext(" or ").join(f"“{called.get(key, key)}”" for key in services)
    if words:
        return f"{words} ({', '.join(names)})" if names else words
    if names:
        return gettext("Any service of {agencies}").format(agencies=", ".join(names))
    return gettext("An inquiry, whatever the service")
