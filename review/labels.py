"""Labels of the review pages: actions, states, and what became of a question."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from conversations.states import StageStatus, TurnState
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from review.models import Action, ReviewItem
from review.states import ReviewState

STAGE_STATUSES: Mapping[str, str] = {
    StageStatus.PENDING: gettext_noop("Not started"),
    StageStatus.RUNNING: gettext_noop("Running"),
    StageStatus.PASSED: gettext_noop("Passed"),
    StageStatus.FALLBACK: gettext_noop("Failed, answered in prepared words"),
    StageStatus.NEEDS_REVIEW: gettext_noop("Needs review"),
    StageStatus.APPROVED: gettext_noop("Approved"),
    StageStatus.OVERRIDDEN: gettext_noop("Overridden"),
    StageStatus.CHOSEN: gettext_noop("Chosen by the citizen"),
}

ITEM_STATES: Mapping[str, str] = {
    ReviewState.OPEN: gettext_noop("Open"),
    ReviewState.CLAIMED: gettext_noop("Somebody is working on it"),
    ReviewState.DECIDED: gettext_noop("Decided"),
    ReviewState.SECOND_OPINION: gettext_noop("Waits for a second person"),
    ReviewState.SENDING: gettext_noop("Decided, goes out within seconds"),
}

NOT_FINISHED = gettext_noop("Not finished")
"""Of a stage that was begun, in a turn that nobody works on: the model could not be reached."""

CHOICE_OUTCOMES: Mapping[str, str] = {
    ChoiceOutcome.OPEN: gettext_noop("The citizen is asked to choose one of these."),
    ChoiceOutcome.CHOSEN: gettext_noop("The citizen chose from these."),
    ChoiceOutcome.NONE: gettext_noop("The citizen was offered these, and said: none of them."),
    ChoiceOutcome.EXPIRED: gettext_noop("The citizen was offered these, and chose none in time."),
    ChoiceOutcome.REPLACED: gettext_noop("The citizen was offered these, and asked anew."),
}

NOBODY_WAITS_BY_STATE: Mapping[str, str] = {
    TurnState.ANSWERED: gettext_noop(
        "The citizen has been shown help lines and an answer. No answer waits for this item; read "
        "what they wrote."
    ),
    TurnState.ASKING: gettext_noop(
        "The citizen has been shown help lines, is asked what they mean, and reads that a "
        "caseworker reads their message too. No answer waits for this item; read what they wrote."
    ),
}
"""By the turn's state: the sentence of an item of a weak sign of danger, for which nobody waits."""

NOBODY_WAITS_FEEDBACK = gettext_noop(
    "The citizen has an answer, and said something of it. Nothing waits for this item."
)
NOBODY_WAITS_HARMFUL = gettext_noop(
    "The citizen has this answer. Talk with them, or have an editor put a correction under it; "
    "nothing else waits for this item."
)
NOBODY_WAITS_EMPTY = gettext_noop(
    "The citizen has an answer: the services, with what to do first. The model’s own text was left "
    "out. Nothing waits for this item."
)
NOBODY_WAITS_HELP = gettext_noop(
    "The citizen has been shown help lines. Nothing waits for this item."
)

ASKED_AGAIN = gettext_noop(
    "The citizen said that the first answer, “{name}”, was about something else, and asked again."
)
"""Of a turn that asks again, with the name of the service that the first answer was about."""

TURNED_AWAY = gettext_noop(
    "The citizen said that this answer was about something else, and asked again."
)

STOPPED: Mapping[int, str] = {
    0: gettext_noop("It stopped at “{stage}” before the model was asked."),
    1: gettext_noop("It stopped at “{stage}” after one attempt."),
    2: gettext_noop("It stopped at “{stage}” after two attempts."),
}
STOPPED_AFTER = gettext_noop("It stopped at “{stage}” after {number} attempts.")
"""The sentence on where an item stopped, by the number of attempts, and after more than those."""

TURN_STATES: Mapping[str, str] = {
    TurnState.QUEUED: gettext_noop("Waits for the assistant"),
    TurnState.RUNNING: gettext_noop("The assistant is working on it"),
    TurnState.ANSWERED: gettext_noop("Answered"),
    TurnState.ASKING: gettext_noop("The citizen is asked to choose"),
    TurnState.NEEDS_REVIEW: gettext_noop("Waits for a person"),
    TurnState.AWAITING_MODEL: gettext_noop("Waits for the model"),
    TurnState.WITH_PERSON: gettext_noop("Written to a person"),
    TurnState.CLOSED: gettext_noop("Closed"),
}

ACTIONS_DONE: Mapping[str, str] = {
    Action.APPROVE: gettext_noop("Approved"),
    Action.OVERRIDE: gettext_noop("Corrected"),
    Action.SERVICE: gettext_noop("Sent a service"),
    Action.RETRY: gettext_noop("Asked the model again"),
    Action.WRITE: gettext_noop("Wrote the reply"),
    Action.ASK: gettext_noop("Asked the citizen for more"),
    Action.HAND_OVER: gettext_noop("Handed to another agency"),
    Action.DONE: gettext_noop("Reached the citizen"),
    Action.DISMISS: gettext_noop("Dismissed"),
    Action.AGREE: gettext_noop("Agreed"),
    Action.DISAGREE: gettext_noop("Sent back"),
    Action.UNDO: gettext_noop("Took it back"),
}

TAKE_WITHOUT = (
    gettext_noop("Take it without what the contract does not know"),
    gettext_noop("Left out is {fields}. The rest passed every check."),
)
"""The name and the hint of an approval where unknown fields are all that was found."""

ACTION_CHOICES: Mapping[str, tuple[str, str]] = {
    Action.AGREE: (
        gettext_noop("Agree"),
        gettext_noop("What the first person decided takes effect."),
    ),
    Action.DISAGREE: (
        gettext_noop("Send it back"),
        gettext_noop("Who decided it has it again, and reads your note. Nothing is sent."),
    ),
    Action.APPROVE: (
        gettext_noop("Approve it"),
        gettext_noop("What the assistant has goes out as it is."),
    ),
    Action.SERVICE: (
        gettext_noop("Send a service"),
        gettext_noop("The citizen gets its card as it stands in the service list."),
    ),
    Action.WRITE: (
        gettext_noop("Write the reply"),
        gettext_noop("The citizen gets your words. The rest is skipped."),
    ),
    Action.ASK: (
        gettext_noop("Ask the citizen"),
        gettext_noop(
            "The citizen sees your question. The assistant reads what they write then; to read it"
            " yourself, talk with them."
        ),
    ),
    Action.HAND_OVER: (
        gettext_noop("Hand over"),
        gettext_noop("It moves to the queue of another agency’s caseworkers."),
    ),
    Action.RETRY: (
        gettext_noop("Ask the model again"),
        gettext_noop("The same step, two new attempts."),
    ),
    Action.OVERRIDE: (
        gettext_noop("Correct the step"),
        gettext_noop("The assistant goes on from your answer."),
    ),
    Action.DONE: (
        gettext_noop("I have reached the citizen"),
        gettext_noop("The item is done. The way to reach them is erased."),
    ),
    Action.DISMISS: (gettext_noop("Dismiss"), gettext_noop("The item is done without an answer.")),
}
"""By action: its name and what it leads to, in the order in which they are offered."""

REASONS: Mapping[str, tuple[str, ...]] = {
    Action.AGREE: (gettext_noop("It is right."),),
    Action.APPROVE: (
        gettext_noop("It is right as it is."),
        gettext_noop("The fault is harmless."),
        gettext_noop("The risk that was seen is none."),
    ),
    Action.SERVICE: (
        gettext_noop("The citizen means this."),
        gettext_noop("The model chose wrongly."),
        gettext_noop("It is the nearest that there is."),
    ),
    Action.WRITE: (
        gettext_noop("It takes a person’s words."),
        gettext_noop("The service list does not say it."),
        gettext_noop("It asks for several things."),
    ),
    Action.ASK: (gettext_noop("The message is unclear."), gettext_noop("A fact is missing.")),
    Action.HAND_OVER: (
        gettext_noop("It is for that agency."),
        gettext_noop("They know more of it."),
    ),
    Action.RETRY: (
        gettext_noop("It may succeed this time."),
        gettext_noop("The model was away or cut off."),
    ),
    Action.OVERRIDE: (
        gettext_noop("This is what the message says."),
        gettext_noop("The model chose wrongly."),
        gettext_noop("It misread the message."),
        gettext_noop("The service list is unclear."),
    ),
    Action.DONE: (gettext_noop("The citizen has what they need."),),
    Action.DISMISS: (
        gettext_noop("I have read it: nothing is left to do."),
        gettext_noop("It asks for nothing."),
        gettext_noop("It was asked twice."),
        gettext_noop("It has been answered elsewhere."),
        gettext_noop("It is abuse."),
    ),
}
"""By action: the usual reasons, in the order in which they are offered; the first, which is taken
where nobody picks another, says no more than the action itself."""

KEYS: Mapping[str, str] = {
    Action.AGREE: "1",
    Action.APPROVE: "1",
    Action.SERVICE: "2",
    Action.WRITE: "3",
    Action.ASK: "4",
    Action.RETRY: "5",
    Action.OVERRIDE: "6",
    Action.HAND_OVER: "7",
    Action.DISAGREE: "8",
    Action.DISMISS: "8",
    Action.DONE: "9",
}
"""The key of an action, the same on every item. Of two that share one only the first of a page has
it."""

CAREFUL_ORDER: tuple[str, ...] = (
    Action.WRITE,
    *(action for action in ACTION_CHOICES if action not in (Action.WRITE, Action.APPROVE)),
    Action.APPROVE,
)
"""The order where the message shows a danger, or the citizen has refused what the assistant has: a
person's own words first."""

SECOND_ORDER: tuple[str, ...] = (Action.AGREE, Action.WRITE, Action.DISAGREE)
"""What comes first where a decision waits for a second opinion."""

CHANGE = (
    gettext_noop("Change it"),
    gettext_noop("Your words take the place of theirs. Then somebody else has to agree."),
)
"""The name and the hint of writing the reply where a decision waits for a second opinion."""

TRIAGE_HINT = gettext_noop("Your answer takes the place of the model’s.")
"""The hint of a correction that no answer waits for."""

TAKEN_BACK = gettext_noop("Taken back at once.")
"""The reason for undoing a decision before it takes effect."""

TYPED: Mapping[str, str] = {
    "text": gettext_noop("Your words"),
    "guidance": gettext_noop("Your words"),
    "answer": gettext_noop("Your words"),
    "quote": gettext_noop("Words of the message"),
    "value": gettext_noop("Value"),
    "reason": gettext_noop("Your reason"),
}
"""By the end of a field's name: what is typed in it, for drafts that cannot be sent any more."""


def nobody_waits(item: ReviewItem) -> str:
    """Return the sentence on an item of a reply for which nobody waits; not translated yet."""
    if Code.CITIZEN_FEEDBACK in item.reasons:
        return NOBODY_WAITS_FEEDBACK
    if Code.READER_HARMFUL in item.reasons:
        return NOBODY_WAITS_HARMFUL
    if set(item.reasons) == {Code.REPLY_EMPTY}:
        return NOBODY_WAITS_EMPTY
    return NOBODY_WAITS_BY_STATE.get(item.turn.state, NOBODY_WAITS_HELP)


def label_name(release: Release | None, label_set: str, code: str) -> str:
    """Return a label's name; an unknown code is shown as it is."""
    label = release.labels.get(label_set, {}).get(code) if release else None
    entry = label or (release.situation(code) if release else None)
    return entry.name if entry else code


def agency_name(release: Release | None, agency: str) -> str:
    """Return an agency's name; an unknown id is shown as it is."""
    entry = release.agencies.get(agency) if release else None
    return entry.name if entry else agency


def service_name(release: Release, agency: str, key: str) -> str:
    """Return a service's name; an unknown key is shown as it is."""
    entry = release.services.get((agency, key))
    return entry.name if entry else key


def agency_names(item: ReviewItem, release: Release | None) -> str:
    """Return the names of an item's agencies, first the one that has it now; empty for none."""
    names = {agency: agency_name(release, agency) for agency in item.agency_ids}
    others = ", ".join(name for agency, name in names.items() if agency != item.agency)
    if item.agency not in names:
        return others
    first = names[item.agency]
    return (
        gettext("{agency} (with {others})").format(agency=first, others=others) if others else first
    )
