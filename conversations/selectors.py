"""Reads: what the chat page and the pipeline need of the stored conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

import ieim.knowledge
from conversations import page_languages, ports
from conversations import waiting as waiting_views
from conversations.chat import wording
from conversations.chat.presenters import (
    ChatView,
    CorrectionView,
    FeedbackView,
    StepView,
    Suggestions,
    TurnView,
)
from conversations.chat.reply_views import Shown, cards_of, reply_view, without_repeating
from conversations.mail import selectors as mail
from conversations.models import Session, Stage, Turn, opened_by_link, opened_by_token
from conversations.person import selectors as people
from conversations.states import DONE_STAGE_STATUSES, StageStatus, TurnState
from conversations.turns import choosing, flags, help_lines, languages
from conversations.turns.models import ChoiceOutcome
from conversations.turns.services import secret_digest
from ieim.administration import languages as site_languages
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower
from ieim.pipeline.knowledge import CaseText
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.message.screen import MAX_CHARS
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.stages.base import HISTORY_ITEMS
from ieim.pipeline.stages.slots import cut


def suggestions() -> Suggestions:
    """Return example questions, in the page's language where they exist in it.

    Those of the administration; where it has none in any language those of the demo whose answer is
    in the release that new turns get. Of these a translation has the names of the services.
    """
    organisation, page_language = administration.current(), page_languages.current()
    if organisation.has_examples:
        return Suggestions(tuple(organisation.examples(site_languages.of_page())), page_language)
    publication = follower.publication()
    if publication is None:
        return Suggestions()
    release = knowledge.loaded(publication)
    view = languages.in_language(release, detected_code(page_language))
    by_id = {service: (agency, service) for agency, service in release.services}
    demo = [(text, ids) for text, ids in _demo_suggestions() if ids and ids <= by_id.keys()]
    keys = (by_id[service] for _, ids in demo if len(ids) == 1 for service in ids)
    translated = (key for key in keys if "name" in view.translated.get(key, ()))
    if names := tuple(view.services[key].name for key in translated):
        return Suggestions(names, page_language)
    return Suggestions(tuple(text for text, _ in demo), languages.written_in())


@cache
def _demo_suggestions() -> tuple[tuple[str, frozenset[str]], ...]:
    path = Path(ieim.knowledge.__file__).parent / "demo" / "golden.jsonl"
    with path.open(encoding="utf-8") as lines:
        return tuple(
            (case["text"], frozenset(case["expected"]["acceptable_services"]))
            for case in map(json.loads, lines)
            if "suggestion" in case["tags"]
        )


HISTORY_CHARS = 600
"""How much of an earlier message the model is reminded of."""
ANSWER_CHARS = 240
"""And of an earlier answer: it knows the entry, and needs only what the talk was about."""

LOW_PATH = ("judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1")
HIGH_PATH = (
    "judgement_v1",
    "agency_detect_v1",
    "semantic_analysis_v1",
    "service_select_v1",
    "multi_agency_service_answer_v1",
)


def session_for_secret(secret: str) -> Session | None:
    """Return the session of a cookie or a private link, None before its first message."""
    return Session.objects.filter(opened_by_link(secret_digest(secret))).first()


def session_for_token(token: str) -> Session | None:
    """Return the session of a token of REST, None where it opens none."""
    return Session.objects.filter(opened_by_token(secret_digest(token))).first()


def history(turn: Turn) -> list[dict[str, Any]]:
    """Return ``chat_context_summary`` for a turn: at most 20 items of earlier turns, oldest first.

    Items are ``{"role": "user", "text"}`` and ``{"role": "assistant", "text", "agency",
    "service"}``; the ids are of the answer's first source and absent without one. An answer with a
    checklist has the key of its ``situation``, whether it was ``opened``, and what was ticked as
    ``done``. Texts are
    redacted: a reply by staff may name what the citizen wrote; an answer's is what it was about and
    what it said first. Notices are left out: what stands now is told as ``runtime_directive``.

    A turn that was asked again as something else begins a new conversation. Left out are a replaced
    answer, a message to a person, and a message whose danger lets a person answer it and that has
    no answer from the knowledge yet: "I want to die" is not about death certificates.
    """
    if turn.number == 1:
        return []
    turns = Turn.objects.filter(session_id=turn.session_id)
    restarts = turns.filter(number__lte=turn.number, replaces__isnull=False)
    first_number = restarts.aggregate(last=Max("number"))["last"] or 1
    earlier = (
        turns.filter(number__gte=first_number, number__lt=turn.number)
        .filter(person_request__isnull=True)
        .exclude(state=TurnState.WITH_PERSON.value)
        .select_related("reply", "replaced", "choice")
        .order_by("-number")[:HISTORY_ITEMS]
    )
    items: list[dict[str, Any]] = []
    for earlier_turn in reversed(earlier):
        if flags.is_held(earlier_turn) and not (
            hasattr(earlier_turn, "reply") and earlier_turn.reply.body["sources"]
        ):
            continue
        items.append({"role": "user", "text": cut(prepare(earlier_turn.text).text, HISTORY_CHARS)})
        if hasattr(earlier_turn, "reply") and not hasattr(earlier_turn, "replaced"):
            items.append(_assistant_item(earlier_turn))
        elif hasattr(earlier_turn, "choice"):
            items.append(_offer_item(earlier_turn))
    return items[-HISTORY_ITEMS:]


def _assistant_item(turn: Turn) -> dict[str, Any]:
    content = replies.Reply.from_dict(turn.reply.body)
    text = content.in_short(wording.words(turn.language).heading)
    item: dict[str, Any] = {"role": "assistant", "text": cut(prepare(text).text, ANSWER_CHARS)}
    if content.sources:
        item["agency"] = content.sources[0].agency_id
        item["service"] = content.sources[0].service_key
    if len(content.sources) > 1:
        several = content.sources
        item["services"] = [{"agency": s.agency_id, "service": s.service_key} for s in several]
    if hasattr(turn, "choice"):
        item["offered"] = _offered(turn)
    if content.situation is not None:
        item["situation"], item["opened"] = content.situation.key, content.situation.is_open
        item["done"] = sorted(tick.service for tick in turn.reply.ticks.all())
    return item


def _offer_item(turn: Turn) -> dict[str, Any]:
    options = choosing.options(turn.choice, languages.release_of(turn))
    text = "\n".join(f"{option.number}. {option.name}" for option in options)
    # What was refused by the button is no subject any more.
    refused = turn.choice.outcome == ChoiceOutcome.NONE
    return {"role": "assistant", "text": text, "offered": [] if refused else _offered(turn)}


def _offered(turn: Turn) -> list[dict[str, str]]:
    return [{"agency": agency, "service": key} for agency, key in turn.choice.offered]


def turn_view(turn_id: UUID) -> TurnView:
    """Return one turn as the page shows it; raises ``Turn.DoesNotExist``."""
    turn = _turns().get(pk=turn_id)
    earlier = Turn.objects.filter(session_id=turn.session_id, number__lt=turn.number)
    with_cards = earlier.filter(reply__isnull=False, replaced__isnull=True)
    above = with_cards.select_related("reply", "replaced").prefetch_related("corrections")
    shown_cards = _cards(above) if hasattr(turn, "reply") else set()
    view = _turn_view(turn, _due([turn]), flags.waiting(turn.session_id), shown_cards)
    return replace(
        view,
        lines=people.lines(turn.session_id).get(turn.number, ()),
        mail=mail.visible_state(turn, mail.states(turn.session_id)),
    )


def chat_view(*, secret: str | None) -> ChatView:
    """Return the whole chat page for a citizen's secret (None: a first visit)."""
    return session_view(session_for_secret(secret) if secret else None, link=secret)


def session_view(session: Session | None, *, link: str | None = None) -> ChatView:
    """Return the whole of a conversation; ``link`` is the secret of its private link."""
    stored = [] if session is None else list(_turns().filter(session=session))
    due = _due(stored)
    waiting = flags.waiting(session.pk) if session else []
    above: set[Shown] = set()
    turns: list[TurnView] = []
    lines_by_turn = people.lines(session.pk) if session else {}
    mails = mail.states(session.pk) if session else {}
    for turn in stored:
        view = _turn_view(turn, due, waiting, frozenset(above))
        lines = lines_by_turn.get(turn.number, ())
        turns.append(replace(view, lines=lines, mail=mail.visible_state(turn, mails)))
        above |= _cards([turn])
    return ChatView(
        reference=session.reference if session else "",
        resume_path=f"/c/{link}/" if session and link else "",
        turns=tuple(turns),
        suggestions=Suggestions() if turns else suggestions(),
        limit=MAX_CHARS,
        offline=not settings.IEIM_MODEL["BASE_URL"],
        with_person=session is not None and people.running(session.pk) is not None,
        waits_for_person=any(turn.person and turn.person.state == "open" for turn in turns),
    )


def _turns() -> Any:
    related = (
        *("reply__rating", "reply__feedback", "choice", "replaced", "replaces", "delay"),
        "person_request__about",
    )
    turns = Turn.objects.select_related(*related)
    return turns.order_by("number").prefetch_related("stages", "corrections__notice")


def _cards(turns: Iterable[Turn]) -> set[Shown]:
    """Return the cards that stand open on the page: not of answers about something else, nor of
    those that were corrected."""
    cards: set[Shown] = set()
    for turn in turns:
        if hasattr(turn, "reply") and not hasattr(turn, "replaced") and not turn.corrections.all():
            cards |= cards_of(turn.reply, turn)
    return cards


def _due(turns: Iterable[Turn]) -> Mapping[UUID, ports.Due]:
    """Return by when people should answer those that wait, and why they have to."""
    waiting = [turn.pk for turn in turns if turn.state == TurnState.NEEDS_REVIEW.value]
    return ports.reviews().due(turn_ids=waiting) if waiting else {}


def _turn_view(
    turn: Turn, due: Mapping[UUID, ports.Due], waiting: Sequence[Turn], above: Set[Shown]
) -> TurnView:
    reply = reply_view(turn.reply, turn) if hasattr(turn, "reply") else None
    waits = due.get(turn.pk)
    words = wording.words(page_languages.wording_language(turn.language))
    stored = getattr(getattr(turn, "reply", None), "feedback", None)
    feedback = FeedbackView(stored.reason, stored.text) if stored is not None else None
    of_feedback = help_lines.of_feedback(turn)
    contacts = tuple(dict.fromkeys([*help_lines.of_turn(turn, waiting), *of_feedback]))
    alone = waiting_views.alone(turn, contacts)
    return TurnView(
        id=turn.pk,
        number=turn.number,
        text=turn.text,
        asked_at=turn.created_at,
        state=turn.state,
        steps=_steps(turn),
        reply=reply and without_repeating(reply, turn.reply, turn, above),
        contacts=contacts,
        contacts_below=not of_feedback and help_lines.are_below(turn, waiting),
        has_own_help_lines=help_lines.has_own(turn),
        may_be_watched=bool(contacts)
        and any(sign.code in _WATCHED for sign in flags.signs_of(turn)),
        said_safe=turn.said_safe_at is not None,
        corrections=corrections(turn),
        choice=choosing.choice_view(turn),
        # No day is promised that is over, nor an hour at which nobody may be there.
        due_at=waits.when if waits and waits.when > timezone.now() and not alone else None,
        alone=alone,
        language=wording.words(turn.language).language,
        useful=turn.reply.useful if hasattr(turn, "reply") else None,
        ticked=tuple(sorted(tick.service for tick in turn.reply.ticks.all()))
        if reply and (reply.cards or reply.situation)
        else (),
        feedback=feedback if feedback and (feedback.reason or feedback.text) else None,
        replaces=turn.replaces.turn_id if hasattr(turn, "replaces") else None,
        replaced_by=turn.replaced.by_id if hasattr(turn, "replaced") else None,
        longer=_takes_longer(turn),
        person=people.request_view(turn),
        waiting=waiting_views.waiting_view(turn, words, waits, waiting),
        answered_at=turn.reply.created_at if hasattr(turn, "reply") else None,
        intermediate=_intermediate(turn, waiting),
        opening=_opening(turn),
    )


def corrections(turn: Turn) -> tuple[CorrectionView, ...]:
    """Return what staff have since written of a turn's answer."""
    return tuple(
        CorrectionView(
            correction.notice.text, correction.created_at, language=languages.written_in()
        )
        for correction in turn.corrections.all()
    )


UNTAKEN = timedelta(seconds=10)
"""A question that no worker has taken for so long takes longer than usual."""


def _takes_longer(turn: Turn) -> bool:
    """Return whether the citizen is to read that it takes longer than usual: the worker says so, or
    no worker has the turn."""
    now = timezone.now()
    if turn.state == TurnState.QUEUED.value:
        return turn.created_at < now - UNTAKEN
    if turn.state != TurnState.RUNNING.value:
        return False
    return hasattr(turn, "delay") or (turn.leased_until is not None and turn.leased_until < now)


_OPENED = (TurnState.ANSWERED.value, TurnState.ASKING.value, TurnState.NEEDS_REVIEW.value)
_WATCHED = frozenset({"violence", "minor_at_risk"})
"""Risk flags of danger that comes from somebody, mostly at home."""


def _opening(turn: Turn) -> CaseText | None:
    """Return the administration's words to somebody in a hard situation, None where a turn tells of
    none, or nothing has come of it yet."""
    # Of a refused message nothing is known, and of a faint sign a model saw nothing.
    signs = [sign for sign in flags.signs_of(turn) if sign.source not in ("refusal", "faint")]
    is_hard = help_lines.of_signs(turn, signs) or any(sign.code == "distress" for sign in signs)
    case = turn.situation or ("worry" if is_hard else "")
    if not case or turn.state not in _OPENED:
        return None
    release = languages.release_of(turn)
    return guidance.texts(release, [turn.language or languages.written_in()])[case]


def _intermediate(turn: Turn, waiting: Sequence[Turn]) -> Literal["", "asked", "help", "held"]:
    if hasattr(turn, "choice"):
        return "asked"
    if turn.resumed:
        return "held"
    return "help" if help_lines.came_late(turn, waiting) else ""


def _steps(turn: Turn) -> tuple[StepView, ...]:
    if turn.state == TurnState.WITH_PERSON.value or hasattr(turn, "person_request"):
        return ()  # No step of the assistant's is to come.
    stages = {stage.contract: stage for stage in turn.stages.all()}
    analysis = stages.get("semantic_analysis_v1")
    # Pending, it was asked before a person led the turn down the other path.
    high = analysis is not None and analysis.status != StageStatus.PENDING.value
    path: tuple[str, ...] = HIGH_PATH if high else LOW_PATH
    judged = stages["judgement_v1"].state_merge if "judgement_v1" in stages else None
    if judged is not None and judged["judgement_v1"]["inquiry"] is False:
        path = path[:1]  # guidance: nothing is looked for
    waiting = turn.state in (TurnState.QUEUED.value, TurnState.RUNNING.value)
    words = wording.words(page_languages.wording_language(turn.language))
    steps = []
    for contract in path:
        status = _step_status(stages.get(contract))
        if status == "stopped" and turn.state in _UNDECIDED:
            status = "running"
        if waiting and status == "pending":
            # The first step that is not done is running now, even before it is stored.
            status, waiting = "running", False
        elif status == "running":
            waiting = False
        steps.append(StepView(words.translate(wording.STEPS[contract]), status, words.language))
    return tuple(steps)


_UNDECIDED = frozenset({TurnState.RUNNING.value, TurnState.ASKING.value})
"""A stage that does not know has stopped here, and nothing has been passed to a person yet."""


def _step_status(stage: Stage | None) -> Any:
    if stage is None:
        return "pending"
    status = StageStatus(stage.status)
    if status in DONE_STAGE_STATUSES:
        return "done"
    return "stopped" if status is StageStatus.NEEDS_REVIEW else "running"
