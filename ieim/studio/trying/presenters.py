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

from conversations.chat import reply_views, wording
from conversations.chat.presenters import ReplyView, StepView, TurnView
from conversations.models import Reply, Turn
from conversations.turns import help_lines, languages, resuming
from ieim.knowledge.notices import selectors as notices
from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import FLOW, STAGES
from ieim.pipeline.work import Answered, AttemptRecord, Held
from ieim.studio.labels import stage_label
from ieim.studio.models import GoldenQuestion
from ieim.studio.trying.asking import ShortlistView, Side
from ieim.studio.trying.comparing import ending

_WITH_REPLY = (Answered, Held)
LONGEST = 20_000
"""Characters shown of a faulty answer."""


@dataclass(frozen=True, slots=True)
class CallView:
    """One call of the model; of its tokens, ``record.answer`` has the server's own count and
    ``record.count.input`` our upper bound of what was sent."""

    record: AttemptRecord
    given: str
    said: str


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage; ``findings`` are those for which the model was not asked (again)."""

    contract: str
    words: str
    passed: bool
    fallback: bool
    findings: tuple[Finding, ...]
    calls: tuple[CallView, ...]
    shortlists: tuple[ShortlistView, ...]

    @property
    def tokens(self) -> int:
        """The tokens of all calls, by the bound where the server gave no count."""
        tokens = 0
        for record in (call.record for call in self.calls):
            read, written = record.answer.prompt_tokens, record.answer.completion_tokens
            tokens += (record.count.input if read is None else read) + (written or 0)
        return tokens


@dataclass(frozen=True, slots=True)
class SideView:
    """One side: how it ended in a sentence, its stages, the reply as the citizen would see it.

    ``held`` says that the reply would wait for a person. ``turn`` is what the citizen's templates
    need. ``untrained``: no worker has trained with the release's examples of danger yet.
    """

    which: str
    title: str
    ending: str
    findings: tuple[Finding, ...]
    held: bool
    reply: ReplyView | None
    turn: TurnView
    stages: tuple[StageView, ...]
    untrained: bool

    @property
    def tokens(self) -> int:
        return sum(stage.tokens for stage in self.stages)


def side_view(side: Side, text: str) -> SideView:
    """Return what is shown of one side of a question ``text``."""
    outcome, store = side.run.outcome, side.run.store
    reply = _reply_view(outcome.reply, side, text) if isinstance(outcome, _WITH_REPLY) else None
    title = gettext("The draft")
    if side.which == "published":
        title = gettext("Published: release {number}").format(number=side.release.number)
    return SideView(
        which=side.which,
        title=title,
        ending=capfirst(ending(side)),
        findings=() if outcome is None or isinstance(outcome, Answered) else outcome.findings,
        held=isinstance(outcome, Held),
        reply=reply,
        turn=_turn_view(side, text, reply),
        stages=tuple(
            StageView(
                contract=name,
                words=stage_label(name),
                passed=bool(records) and records[-1].judgement.passed,
                fallback=bool(records) and records[-1].is_fallback,
                findings=tuple(store.unasked.get(name, ())),
                calls=tuple(
                    CallView(each, _pretty(each.request.messages[2].content), _answer(each))
                    for each in records
                ),
                shortlists=side.shortlists(name),
            )
            for name in STAGES
            if (records := store.records.get(name, [])) or name in store.unasked
        ),
        untrained=side.screening.untrained,
    )


def _reply_view(made: replies.Reply, side: Side, text: str) -> ReplyView:
    """Return a reply as the chat page would show it; the rows behind it are never saved."""
    turn = Turn(text=text, release_number=side.release.number, language=side.language)
    with_notices = replace(made, notices=notices.of_reply(made.sources, timezone.now()))
    stored = Reply(
        turn=turn,
        origin=resuming.origin_of_words(made, lambda: side.release).value,
        body=with_notices.as_dict(),
        marked=resuming.marked(text, made, side.release),
        model=side.model,
    )
    return reply_views.reply_view(stored, turn, side.release)


def _turn_view(side: Side, text: str, reply: ReplyView | None) -> TurnView:
    words = wording.words(side.language or languages.written_in())
    steps = [each.id for each in FLOW if each.id in side.run.store.records]
    codes = [each.code for each in side.screening.risks]
    return TurnView(
        id=uuid4(),
        number=1,
        text=text,
        asked_at=timezone.now(),
        state="answered" if reply else "needs_review",
        steps=tuple(
            StepView(words.translate(wording.STEPS[name]), "done", words.language) for name in steps
        ),
        reply=reply,
        contacts=help_lines.contacts(codes, side.release, side.language, text=text),
    )


def _answer(record: AttemptRecord) -> str:
    """Return a model's answer: formatted where nothing was wrong with it, else as it came.

    What a browser cannot be sent (lone surrogates, NUL) is replaced.
    """
    raw = record.answer.raw
    if record.judgement.passed:
        return _pretty(raw)
    cut_here = gettext("(cut here)")
    cut = raw if len(raw) <= LONGEST else f"{raw[:LONGEST]} … {cut_here}"
    return cut.encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def _pretty(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)


def question_view(question: GoldenQuestion, release: Release | None) -> dict[str, Any]:
    """Return a golden question as it is listed, with what is right in words."""
    case = question.case
    return {
        "question": question,
        "text": case["text"],
        "expects": _expects(case["expected"], release),
        "note": case.get("note", ""),
        "talk": bool(case["history"]),
    }


def _expects(expected: Mapping[str, Any], release: Release | None) -> str:
    if not expected["inquiry"]:
        return gettext("Not an inquiry")
    agencies, services = expected["agencies"], expected.get("acceptable_services") or []
    if agencies == [] and not services:
        return gettext("A person looks at it: nothing here answers it")
    agency_names: dict[str, str] = {}
    service_names: dict[str, str] = {}
    for agency in agencies or ():
        found = release.agencies.get(agency) if release else None
        agency_names[agency] = found.name if found else agency
        for key in services:
            service = release.services.get((agency, key)) if release else None
            service_names |= {key: service.name} if service else {}
    words = gettext(" or ").join(f"“{service_names.get(key, key)}”" for key in services)
    offices = ", ".join(agency_names.values())
    if words:
        return f"{words} ({offices})" if offices else words
    if offices:
        return gettext("Any service of {agencies}").format(agencies=offices)
    return gettext("An inquiry, whatever the service")
