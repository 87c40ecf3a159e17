"""Plain values for the playground page and its REST resource."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext

from conversations.chat import reply_views, wording
from conversations.chat.presenters import StepView, TurnView
from conversations.chat.reply_presenters import ReplyView
from conversations.models import Reply, Turn
from conversations.turns import help_lines, languages, resuming
from ieim.knowledge.notices import selectors as notices
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.reply.plain_text import first_sentence
from ieim.pipeline.topology import FLOW, STAGES
from ieim.pipeline.work import Abstained, Answered, AttemptRecord, Held, NeedsReview
from ieim.studio.evaluation.comparing import changed_parts, reply_parts
from ieim.studio.labels import stage_label
from ieim.studio.trying.playground import Side

LONGEST_ANSWER = 20_000
"""Characters shown of a faulty answer."""


def side_view(side: Side) -> dict[str, Any]:
    """Return one side: its outcome as a sentence, its stages, the reply that the citizen would see.

    ``held`` says that the reply would wait for a person. ``turn`` is for the citizen's templates.
    ``untrained``: no worker has trained with the release's examples of danger yet.
    """
    outcome = side.run.outcome
    reply = _reply_of(side)
    reply_view = None if reply is None else _reply_view(reply, side)
    title = gettext("The draft")
    if side.which == "published":
        title = gettext("Published: release {number}").format(number=side.run.release.number)
    stages = [
        _stage_view(side, name)
        for name in STAGES
        if name in side.run.store.records or name in side.run.store.unasked
    ]
    return {
        "which": side.which,
        "title": title,
        "ending": capfirst(outcome_sentence(side)),
        "findings": () if outcome is None or isinstance(outcome, Answered) else outcome.findings,
        "held": isinstance(outcome, Held),
        "reply": reply_view,
        "turn": _turn_view(side, reply_view),
        "stages": stages,
        "tokens": sum(stage["tokens"] for stage in stages),
        "untrained": side.screening.untrained,
    }


def _stage_view(side: Side, name: str) -> dict[str, Any]:
    """Return one stage; ``findings`` are the reasons why the model was not called (again)."""
    records = side.run.store.records.get(name, [])
    return {
        "contract": name,
        "words": stage_label(name),
        "passed": bool(records) and records[-1].judgement.passed,
        "fallback": bool(records) and records[-1].is_fallback,
        "findings": side.run.store.unasked.get(name, ()),
        "tokens": _tokens(records),
        "calls": [
            {
                "record": record,
                "given": _indented(record.request.messages[2].content),
                "said": _answer(record),
            }
            for record in records
        ],
        "shortlists": side.shortlists(name),
    }


def _tokens(records: Sequence[AttemptRecord]) -> int:
    """Return the tokens of all calls; our upper bound where the server gave no count."""
    tokens = 0
    for record in records:
        read, output_tokens = record.answer.prompt_tokens, record.answer.completion_tokens
        tokens += (record.count.input if read is None else read) + (output_tokens or 0)
    return tokens


def _reply_view(reply: replies.Reply, side: Side) -> ReplyView:
    """Return a reply as the chat page would show it; the rows behind it are never saved."""
    release = side.run.release
    turn = Turn(text=side.text, release_number=release.number, language=side.run.language)
    with_notices = replace(reply, notices=notices.of_reply(reply.sources, timezone.now()))
    stored = Reply(
        turn=turn,
        origin=resuming.origin_of_words(reply, lambda: release).value,
        body=with_notices.as_dict(),
        marked=resuming.marked(side.text, reply, release),
        model=side.runner.model.name,
    )
    return reply_views.reply_view(stored, turn, release)


def _turn_view(side: Side, reply: ReplyView | None) -> TurnView:
    language = side.run.language
    words = wording.words(language or languages.written_in())
    stages = [stage.id for stage in FLOW if stage.id in side.run.store.records]
    codes = [sign.code for sign in side.screening.risks]
    return TurnView(
        id=uuid4(),
        number=1,
        text=side.text,
        asked_at=timezone.now(),
        state="answered" if reply else "needs_review",
        steps=tuple(
            StepView(words.translate(wording.STEPS[name]), "done", words.language)
            for name in stages
        ),
        reply=reply,
        contacts=help_lines.contacts(codes, side.run.release, language, text=side.text),
    )


def _answer(record: AttemptRecord) -> str:
    """Return a model's answer: indented if it passed, else as it came.

    What a browser cannot be sent (lone surrogates, NUL) is replaced.
    """
    raw = record.answer.raw
    if record.judgement.passed:
        return _indented(raw)
    if len(raw) > LONGEST_ANSWER:
        raw = " ".join((raw[:LONGEST_ANSWER], "…", gettext("(cut here)")))
    return raw.encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def _indented(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)


def difference(draft: Side, published: Side | None, *, current: int | None) -> dict[str, Any]:
    """Return the effect of publishing the draft: a ``sentence`` and the ``parts`` that differ.

    A part has its ``heading`` and the texts ``published`` and ``draft``, empty where a side lacks
    it. ``current`` is the number of the current release, None before the first.
    """
    parts: list[dict[str, str]] = []
    if published is None and current is None:
        sentence = gettext("Nothing is published yet, so there is nothing to compare with.")
    elif published is None:
        message = gettext("The draft is the same as release {number}: nothing would change.")
        sentence = message.format(number=current)
    else:
        old, new = _reply_of(published), _reply_of(draft)
        if old and new and type(draft.run.outcome) is type(published.run.outcome):
            before, after = reply_parts(old), reply_parts(new)
            parts = [
                {
                    "heading": gettext(heading),
                    "published": before.get(heading, ""),
                    "draft": after.get(heading, ""),
                }
                for heading in changed_parts(before, after)
            ]
        message = gettext("It changes. Now: {now}. With the draft: {then}.")
        sentence = _same_ending(draft, published, parts) or message.format(
            now=outcome_sentence(published), then=outcome_sentence(draft)
        )
    return {"sentence": sentence, "parts": parts}


def _same_ending(draft: Side, published: Side, parts: Sequence[Mapping[str, str]]) -> str:
    """Return a sentence where both sides give the same service or end alike, else ""."""
    match draft.run.outcome, published.run.outcome:
        case (Answered(reply=new), Answered(reply=old)) | (Held(reply=new), Held(reply=old)):
            if new == old:
                return gettext("Nothing changes: the reply is the same, word for word.")
            if _sources(new) == _sources(old):
                headings = ", ".join(f"“{part['heading']}”" for part in parts) or gettext(
                    "its links"
                )
                message = gettext("It is still the same service, but the reply differs in {where}.")
                return message.format(where=headings)
        case NeedsReview(stage=then), NeedsReview(stage=now) if then == now:
            return gettext("Nothing changes: a person would get the question, as now.")
        case Abstained() as after, Abstained() as before if _offered(after) == _offered(before):
            return gettext("Nothing changes: the citizen would be asked to choose, as now.")
    return ""


def _reply_of(side: Side) -> replies.Reply | None:
    outcome = side.run.outcome
    return outcome.reply if isinstance(outcome, Answered | Held) else None


def _offered(outcome: Abstained) -> list[tuple[str, ...]]:
    """Return what the citizen reads about the services to choose from."""
    return [
        (service.agency, service.key, service.name, first_sentence(service.overview))
        for service in outcome.offered
    ]


def _sources(reply: replies.Reply) -> list[tuple[str, str]]:
    return [(source.agency_id, source.service_key) for source in reply.sources]


def outcome_sentence(side: Side) -> str:
    """Return the outcome of a side as a sentence without a capital and a full stop."""
    outcome = side.run.outcome
    assert outcome is not None  # noqa: S101  # ask_both returns no other
    if isinstance(outcome, NeedsReview):
        message = gettext("a person would get the question. It stopped at “{step}”")
        return message.format(step=stage_label(outcome.stage))
    if isinstance(outcome, Abstained):
        names = ", ".join(f"“{service.name}”" for service in outcome.offered)
        message = gettext("the citizen would be asked to choose from {services}")
        return message.format(services=names)
    sources = dict.fromkeys(
        f"“{source.service_name}” ({source.agency_name})" for source in outcome.reply.sources
    )
    message = {
        (True, False): gettext(
            "a person would have to let this reply go out: words of guidance, with no service"
        ),
        (False, False): gettext("the citizen would get words of guidance, with no service"),
        (True, True): gettext(
            "a person would have to let this reply go out: an answer from {services}"
        ),
        (False, True): gettext("the citizen would get an answer from {services}"),
    }[isinstance(outcome, Held), bool(sources)]
    return message.format(services=gettext(" and ").join(sources))
