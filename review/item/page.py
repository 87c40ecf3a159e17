"""The item page and the preview of a decision: everything that their templates show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import selectors as conversations
from conversations.chat import reply_views
from conversations.models import Attempt, Turn
from conversations.person import selectors as people
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from conversations.turns import choosing, flags, languages
from conversations.turns.choosing import OptionView
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Finding, steps
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import OF_MODEL, PERSON_WANTED
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import ANSWERING, AWAITED, CLASSIFY, PERSON, REPLY
from ieim.studio.labels import stage_label
from review import claims, crisis, deciding, feedback, finding_texts, labels
from review.batches.services import batch_of
from review.deciding import Preview, Refused, actions, answers, outdated, permitted, signing
from review.deciding.locking import DECIDE, SUPERVISE
from review.item import message, stages
from review.item.base_forms import FormContext, Problem
from review.item.citizen import citizens_view, finished_turn
from review.item.forms import DecisionForm, ServeForm
from review.item.selectors import LoadedItem, person_request
from review.item.stages import Statement, statements
from review.labels import agency_name
from review.models import Action, ReviewItem
from review.queue.filters import ItemFilter
from review.queue.presenters import queue_aside
from review.second.comparison import Comparison, comparison, decided_side, earlier_words, views
from review.states import ReviewState

CORRECT = "stage"
"""The name under which an earlier step to correct is posted, or named in the page's address."""
ONCE_MORE = "once-more"
"""What is posted to come to the step that asks once more before an approval in a crisis."""
WAITS = gettext_noop("The citizen waits for the answer.")
NOBODY_WAITS = gettext_noop("It is about what the message says: no citizen waits for it.")


def context(
    loaded: LoadedItem,
    user: User,
    data: QueryDict | None,
    *,
    problems: Sequence[Problem] = (),
    title: str = "",
    correct: str = "",
    filters: ItemFilter,
) -> dict[str, Any]:
    """Return the context of the item page.

    ``data`` is a draft and ``problems`` its errors, under ``title``; ``correct`` names an earlier
    stage to correct, ``filters`` the list that led here. ``panel`` is the template of what the user
    can do.
    """
    item = loaded.item
    holder, dangers = item.holder(timezone.now()), danger(item.turn)
    panel = "taken" if holder else "free"
    if item.state in (ReviewState.DECIDED.value, ReviewState.SENDING.value):
        panel = "decided"
    elif holder == user:
        panel = "form"
    decision = decision_form(loaded, user, data, correct=correct)
    compared = comparison(loaded)
    proposal = compared.decision if compared and not compared.sent_back else None
    waits = proposal is not None and signing.waits_for_signatures(item, proposal)
    opinion = None if waits or item.state == ReviewState.SENDING.value else proposal
    signatures = _signatures(loaded, user, waits=waits)
    now = timezone.now()
    return {
        "item": item,
        "danger": dangers,
        "view": _item_view(loaded, user, dangers),
        "batch": batch_of(item, user),
        "second": compared,
        "sides": views(loaded, compared) if compared else (),
        "feedback": feedback.of_turn(item.turn),
        "panel": f"review/deciding/{panel}.html",
        "mine": holder == user,
        "may_take_over": panel == "taken" and user.has_perm(SUPERVISE),
        "opinion_on": opinion.actor.display_name if opinion is not None else "",
        "why_not": claims.opinion_problem(permitted.opinion_wanted(item), user),
        "form": decision,
        "served": served(loaded, user, decision) if panel == "form" else None,
        "aside": queue_aside(user, filters, now) if panel == "form" else (),
        "correctable": correctable(loaded) if holder == user else (),
        "again": _reopened(loaded),
        "talked": people.taken_over(item.turn.session_id),
        "talking": people.running(item.turn.session_id) is not None and holder == user,
        "outdated": _outdated(loaded, compared),
        "undoable": [
            record.pk
            for record in permitted.undoable(item)
            if not permitted.undo_problem(record, user, now)
        ],
        "signatures": signatures,
        "signs": any(signature["may_sign"] for signature in signatures),
        "waiting": None if compared else _waiting_reply(loaded, user, decision),
        "draft": _draft(decision) if data is not None and holder != user else None,
        "errors": problems,
        "problem_title": title,
        "wrong": {problem.field: problem.message for problem in problems if problem.field},
    }


def preview_context(loaded: LoadedItem, decision: DecisionForm, preview: Preview) -> dict[str, Any]:
    """Return the context of the page that shows what a valid decision leads to."""
    turn, action, payload = loaded.item.turn, decision.action or Action.WRITE, decision.payload()
    proposal = signing.proposal_of(loaded.item) if action is Action.AGREE else None
    says: tuple[Statement, ...] = ()
    if "output" in payload:
        contract = payload["stage"]
        output = deciding.complete_output(contract, turn, payload["output"])
        says = statements(contract, output, decision.context.release)
    elif proposal is not None:
        decided = gettext("Decided")
        says = tuple(
            replace(statement, heading=statement.heading or decided)
            for statement in decided_side(loaded, proposal).says
        )
    changes = None if proposal else outdated.changes_since(turn, preview.reply)
    why_confirm = deciding.why_confirm(loaded.item, action, payload)
    shown_action = proposal.action if proposal else action
    return {
        "item": loaded.item,
        "danger": danger(turn),
        "changes": changes,
        "seen": preview,
        "reply": preview.reply and citizens_view(turn, preview.reply, shown_action),
        "turn": finished_turn(turn),
        "action": next(choice.name for choice in decision.choices if choice.checked),
        "says": says,
        "warnings": at_fields(preview.warnings, decision),
        "reason": decision.cleaned_data["reason"],
        "why_confirm": f"{why_confirm} {changes or ''}".strip(),
        "posted": [
            (name, value)
            for name, values in decision.posted.lists()
            if name not in ("csrfmiddlewaretoken", "again", ONCE_MORE)
            for value in values
        ],
    }


def decision_form(
    loaded: LoadedItem, user: User, data: QueryDict | None, *, correct: str = ""
) -> DecisionForm:
    """Return the form of what ``user`` may do with the item.

    ``correct`` names an earlier step that is to be corrected in place of the item's own.
    """
    item, possible = loaded.item, correctable(loaded)
    contract = data.get(CORRECT, "") if data is not None else correct
    if contract not in possible:
        contract = item.stage if item.stage != REPLY else (possible or ("",))[-1]
    in_crisis = bool(crisis.labels(item.turn))
    wants_person = any(flag.code == PERSON_WANTED for flag in item.flags.all())
    may = deciding.may(item, user)
    order = (Action.AGREE, Action.APPROVE, Action.SERVICE)
    best = next((action for action in order if may[action] == ""), None)
    own_words = (in_crisis or wants_person) and best is not Action.AGREE
    preselected = Action.WRITE if own_words else best
    if correct and contract == correct:
        preselected = Action.OVERRIDE
    return DecisionForm(
        FormContext(
            contract, item.turn, loaded.stages, earlier_words(item), preselects=not in_crisis
        ),
        data,
        may,
        preselected=preselected,
        careful=in_crisis or bool(deciding.why_confirm(item, Action.APPROVE, {})),
    )


def correctable(loaded: LoadedItem) -> tuple[str, ...]:
    """Return the steps that can be corrected: the item's own, and for an answer those before it."""
    current = loaded.item.stage
    if current == PERSON:
        return ()
    if current not in AWAITED:
        return (current,)
    done = tuple(
        name
        for name, stage in loaded.stages.items()
        if name in ANSWERING and StageStatus(stage.status) in DONE_STAGE_STATUSES
    )
    return done if current == REPLY else (*done, current)


def refusal_problems(refused: Refused, decision: DecisionForm) -> list[Problem]:
    """Return why a decision is refused, the gate's findings at their fields."""
    message = Problem(refused.message, decision.field_of(""))
    return at_fields(refused.findings, decision) or [message]


def at_fields(findings: Iterable[Finding], decision: DecisionForm) -> list[Problem]:
    """Return findings at the fields that they concern."""
    return [
        Problem(
            f"{finding_texts.sentence(finding.code)} {finding.message}",
            decision.field_of(finding.path),
            finding.code.value,
        )
        for finding in findings
    ]


def change_message(loaded: LoadedItem, viewer: int | None) -> str:
    """Return who changed the item since the page of the person ``viewer`` was made."""
    records = list(loaded.item.decisions.all())
    if records:
        done = gettext(labels.ACTIONS_DONE[records[-1].action]).lower()
        if records[-1].actor_id == viewer:
            text = gettext("You have decided this already ({done}). Your draft is kept below.")
            return text.format(done=done)
        text = gettext("{name} was faster ({done}). Your draft is kept below.")
        return text.format(name=records[-1].actor.display_name, done=done)
    if loaded.item.claimed_by is not None and loaded.item.claimed_by_id != viewer:
        text = gettext("{name} has taken this item. Your draft is kept below.")
        return text.format(name=loaded.item.claimed_by.display_name)
    return gettext(
        "This item has changed since you opened it. Look at it again; your draft is kept."
    )


@dataclass(frozen=True, slots=True)
class AskedBack:
    """The options that a citizen was offered, and what came of it; ``chosen`` are their numbers."""

    options: tuple[OptionView, ...]
    ended: str
    chosen: frozenset[int]


def asked_back(turn: Turn, release: Release) -> AskedBack | None:
    """Return what the citizen of a turn was asked to choose from; None for most."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return None
    options = choosing.options(choice, release)
    chosen = (o.number for o in options if (o.agency, o.service) in choice.services)
    ended = gettext(labels.CHOICE_OUTCOMES[choice.outcome])
    return AskedBack(options, ended, frozenset(chosen))


@dataclass(frozen=True, slots=True)
class Danger:
    """Why an item is in crisis: the ``names`` of the risks, the citizen's ``words`` that show them,
    and the help lines that the citizen was shown, in their language and in the knowledge's."""

    names: str
    words: tuple[str, ...]
    help_lines: tuple[str, ...]


def danger(turn: Turn) -> Danger | None:
    """Return the danger that a citizen's words show; None for none."""
    escalating = crisis.labels(turn)
    if not escalating:
        return None
    codes = {label.code for label in escalating}
    # A flag of the model's without a quote is of the whole message, which stands below.
    whole_message = {(0, len(turn.text), source) for source in OF_MODEL}
    words = [
        turn.text[sign.start : sign.end]
        for sign in flags.signs_of(turn)
        if sign.code in codes and (sign.start, sign.end, sign.source) not in whole_message
    ]
    words += [text for code, text in flags.of_feedback(turn) if code in codes]
    return Danger(
        names=", ".join(label.name for label in escalating),
        words=tuple(dict.fromkeys(filter(None, words))),
        help_lines=crisis.help_lines(turn),
    )


def _item_view(loaded: LoadedItem, user: User, dangers: Danger | None) -> dict[str, Any]:
    """Return what the page says of an item, its message, and the stages of its turn.

    ``reasons`` are (sentence, code); ``model_answer`` is what the model said at the stage that
    stopped, empty where nothing can be read; ``closes``: dismissing it ends the question.
    """
    item, turn = loaded.item, loaded.item.turn
    release = languages.written_release(turn)
    stopped = loaded.stages.get(item.stage)
    attempts = [a for a in stopped.attempts.all() if a.round == stopped.round] if stopped else []
    answer: tuple[Statement, ...] = ()
    if stopped:
        answer = statements(stopped.contract, message.last_answer(stopped), release)
    marks = message.marks(turn, loaded.stages, release)
    steps = stages.rail(loaded.stages, item.stage, release)
    decided = item.state == ReviewState.DECIDED.value
    return {
        "headline": _headline(item, dangers, attempts),
        "reasons": [(finding_texts.sentence(code), code) for code in item.reasons],
        "lead": _lead(item, len(attempts)),
        "state": _state(item),
        "decided": decided,
        "awaited": item.stage in AWAITED,
        "overdue": not decided and item.due_at < timezone.now(),
        "agencies": labels.agency_names(item, release),
        "segments": message.segments(turn.text, marks),
        "marks": marks,
        "moot": item.stage == REPLY and permitted.is_moot(item),
        "closes": actions.closes(item),
        "model_answer": answer,
        "failed_flags": list(message.failed_flags(loaded.stages.get(CLASSIFY), release)),
        "hints": message.hints(turn.text, attempts),
        "flow": [step for step in steps if step["answering"]],
        "triage": [step for step in steps if not step["answering"]],
        "offered": stages.offered(attempts, release),
        # Who may be in danger does not wait for a service.
        "missed": () if dangers else stages.missed(attempts, turn.text, release),
        "decisions": [
            {
                "id": record.pk,
                "what": gettext(labels.ACTIONS_DONE[record.action]),
                "who": record.actor.display_name,
                "when": record.created_at,
                "reason": record.reason,
            }
            for record in item.decisions.all()
        ],
        "asked_back": asked_back(turn, release),
        "something_else": [*filter(None, (_asked_again(turn), _turned_away(turn)))],
        "person": person_request(item, user),
    }


def _state(item: ReviewItem) -> str:
    """Return the state of an item in words; a claim that ran out is none."""
    ran_out = item.state == ReviewState.CLAIMED.value and item.holder(timezone.now()) is None
    return gettext(labels.ITEM_STATES[signing.waiting_state(item) if ran_out else item.state])


def _headline(item: ReviewItem, dangers: Danger | None, attempts: Sequence[Attempt]) -> str:
    """Return why the item is here: the danger, else what the last attempt got wrong."""
    if dangers is None:
        last = attempts[-1] if attempts else None
        for finding in last.findings if last else ():
            if last and finding["code"] == item.reason:
                return finding_texts.explain(finding, last.raw_text)
        return finding_texts.first_sentence(item.reasons)
    if crisis.of_sign(item):
        text = gettext("Only a sign of danger, to be read, no answer waits: {dangers}")
        return text.format(dangers=dangers.names)
    return gettext("In crisis: {dangers}").format(dangers=dangers.names)


def _lead(item: ReviewItem, attempts: int) -> str:
    """Return where it stopped and who waits, in a sentence or two."""
    if item.state == ReviewState.DECIDED.value:
        if item.stage == PERSON:
            return gettext("The citizen had asked for a person.")
        return gettext("It had stopped at “{stage}”.").format(stage=stage_label(item.stage))
    if item.stage == PERSON:
        return gettext("The citizen waits for a person.")
    if item.stage == REPLY:
        return gettext(labels.nobody_waits(item) if permitted.is_moot(item) else WAITS)
    text = gettext(labels.STOPPED.get(attempts, labels.STOPPED_AFTER))
    where = text.format(stage=stage_label(item.stage), number=attempts)
    return f"{where} {gettext(WAITS if item.stage in ANSWERING else NOBODY_WAITS)}"


def _asked_again(turn: Turn) -> str:
    """Return that the citizen has turned an earlier answer away; empty for most."""
    if not hasattr(turn, "replaces"):
        return ""
    first = Reply.from_dict(turn.replaces.turn.reply.body)
    return gettext(labels.ASKED_AGAIN).format(name=first.still_about)


def _turned_away(turn: Turn) -> str:
    return gettext(labels.TURNED_AWAY) if hasattr(turn, "replaced") else ""


def _reopened(loaded: LoadedItem) -> dict[str, Any] | None:
    """Return the open item that a decided item's question waits in now, None without one."""
    item = loaded.item
    if item.decided_at is None or item.stage not in AWAITED:
        return None
    for candidate in loaded.others:
        later = candidate.turn_id == item.turn_id and candidate.opened_at >= item.decided_at
        if later and candidate.stage in AWAITED and candidate.decided_at is None:
            return {
                "id": candidate.pk,
                "reason": finding_texts.summary(candidate.reasons),
                "stage": stage_label(candidate.stage),
            }
    return None


def _waiting_reply(loaded: LoadedItem, user: User, decision: DecisionForm) -> dict[str, Any] | None:
    """Return the reply that the citizen got, or the one that an approval sends, as they see or
    would see it; None for none.

    Its ``reply`` is None where the approval leads to another step, as ``happens`` says.
    """
    turn = loaded.item.turn
    if hasattr(turn, "reply"):
        return {
            "title": gettext("What the citizen got"),
            "reply": reply_views.reply_view(turn.reply, turn),
            "turn": conversations.turn_view(turn.pk),
        }
    if loaded.item.stage != REPLY and not decision.has_approval:
        return None
    try:
        preview = deciding.preview(
            item_id=loaded.item.pk, actor=user, action=Action.APPROVE, payload={}
        )
    except Refused:
        return None
    return {
        "title": gettext("The reply that waits"),
        "reply": preview.reply and citizens_view(turn, preview.reply, Action.APPROVE),
        "turn": finished_turn(turn),
        "happens": preview.happens,
        "changes": outdated.changes_since(turn, preview.reply),
    }


def served(loaded: LoadedItem, user: User, decision: DecisionForm) -> dict[str, Any] | None:
    """Return the service that is chosen as the answer, as the citizen would see it; None where none
    can be sent. ``refused`` says why that one cannot."""
    form = next((c.form for c in decision.choices if isinstance(c.form, ServeForm)), None)
    if form is None or form.best is None:
        return None
    agency, key = steps(form.best.value)
    payload, turn = {"agency": agency, "service": key}, loaded.item.turn
    shown = {"name": form.best.name, "agency": form.best.hint}
    try:
        preview = deciding.preview(
            item_id=loaded.item.pk, actor=user, action=Action.SERVICE, payload=payload
        )
    except Refused as refused:
        return {**shown, "refused": refused.message}
    changes = outdated.changes_since(turn, preview.reply)
    why = deciding.why_confirm(loaded.item, Action.SERVICE, payload)
    return {
        **shown,
        "reply": preview.reply and citizens_view(turn, preview.reply, Action.OVERRIDE),
        "turn": finished_turn(turn),
        "happens": preview.happens,
        "why_confirm": f"{why} {changes or ''}".strip(),
    }


def _outdated(loaded: LoadedItem, compared: Comparison | None) -> str:
    """Return that an open item is on an older release, and what has changed of the reply that waits
    since; empty for most."""
    turn = loaded.item.turn
    sentence = outdated.older_release(turn)
    if not sentence or loaded.item.state == ReviewState.DECIDED.value:
        return ""
    reply = compared.decided.reply if compared else answers.follow(turn).reply
    return f"{sentence} {outdated.changes_since(turn, reply) or ''}".strip()


def _signatures(loaded: LoadedItem, user: User, *, waits: bool) -> list[dict[str, Any]]:
    """Return the signatures that a reply of several agencies needs; ``by`` is empty before one is
    given. Empty for most items."""
    scope = agencies_of(user)
    signed = {signature.agency: signature for signature in loaded.item.sign_offs.all()}
    release = languages.written_release(loaded.item.turn)
    may_sign = waits and user.has_perm(DECIDE)
    return [
        {
            "agency": agency,
            "name": agency_name(release, agency),
            "by": signed[agency].by.display_name if agency in signed else "",
            "reason": signed[agency].reason if agency in signed else "",
            "may_sign": may_sign and agency not in signed and (scope is None or agency in scope),
        }
        for agency in dict.fromkeys([*deciding.signing_agencies(loaded.item), *signed])
    ]


def _draft(decision: DecisionForm) -> list[tuple[str, str]]:
    """Return what was typed, so that nothing is lost where it can no longer be sent."""
    return [
        (gettext(labels.TYPED[part]), value)
        for name, values in decision.posted.lists()
        if (part := name.rpartition("-")[2]) in labels.TYPED
        for value in values
        if value.strip()
    ]
