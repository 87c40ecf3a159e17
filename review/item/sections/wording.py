"""Words of the item page alone: what can be done, what was done, and states in passing."""

from __future__ import annotations

from collections.abc import Mapping

from conversations.choosing.models import ChoiceOutcome
from conversations.states import TurnState
from review.models import Action

ASKED_BACK: Mapping[str, str] = {
    ChoiceOutcome.OPEN: "The citizen is asked to choose one of these.",
    ChoiceOutcome.CHOSEN: "The citizen chose one of these.",
    ChoiceOutcome.NONE: "The citizen was offered these, and said: none of them.",
    ChoiceOutcome.EXPIRED: "The citizen was offered these, and chose none in time.",
}

ASKED_AGAIN = (
    "The citizen said that the first answer, “{name}”, was about something else, and asked again."
)
"""Of a turn that asks again, with the name of the service that the first answer was about."""

TURNED_AWAY = "The citizen said that this answer was about something else, and asked again."

TURNS: Mapping[str, str] = {
    TurnState.QUEUED: "Waits for the assistant",
    TurnState.RUNNING: "The assistant is working on it",
    TurnState.ANSWERED: "Answered",
    TurnState.ASKING: "The citizen is asked to choose",
    TurnState.NEEDS_REVIEW: "Waits for a person",
    TurnState.AWAITING_MODEL: "Waits for the model",
    TurnState.WITH_PERSON: "Written to a person",
    TurnState.CLOSED: "Closed",
}

DONE: Mapping[str, str] = {
    Action.APPROVE: "Approved",
    Action.OVERRIDE: "Corrected",
    Action.RETRY: "Asked the model again",
    Action.WRITE: "Wrote the reply",
    Action.ASK: "Asked the citizen for more",
    Action.HAND_OVER: "Handed to another agency",
    Action.DONE: "Reached the citizen",
    Action.DISMISS: "Dismissed",
    Action.AGREE: "Agreed",
    Action.DISAGREE: "Disagreed",
    Action.UNDO: "Took it back",
}

CHOICES: Mapping[str, tuple[str, str]] = {
    Action.APPROVE: ("Approve it", "What the assistant has goes out as it is."),
    Action.AGREE: ("Agree", "What the first person decided takes effect."),
    Action.DISAGREE: ("Disagree", "The item is open again, with your reason."),
    Action.OVERRIDE: ("Correct the step", "The assistant goes on from your answer."),
    Action.RETRY: ("Ask the model again", "The same step, two new attempts."),
    Action.WRITE: ("Write the reply yourself", "The citizen gets your words. The rest is skipped."),
    Action.ASK: ("Ask the citizen for more", "The citizen sees your question and can write again."),
    Action.HAND_OVER: ("Hand to another agency", "It moves to the queue of its caseworkers."),
    Action.DONE: (
        "I have reached the citizen",
        "The item is done. The way to reach them is erased.",
    ),
    Action.DISMISS: ("Dismiss", "No answer follows. You can say why."),
}
"""By action: its name and what it leads to, in the order in which they are offered."""

IN_CRISIS: tuple[str, ...] = (
    Action.WRITE,
    *(action for action in CHOICES if action not in (Action.WRITE, Action.APPROVE)),
    Action.APPROVE,
)
"""The order where the message shows a danger: a person's own words first."""

TRIAGE_HINT = "Your answer takes the place of the model’s."
"""What a correction leads to where no answer waits for it."""

TYPED: Mapping[str, str] = {
    "text": "Your words",
    "guidance": "Your words",
    "answer": "Your words",
    "quote": "Words of the message",
    "value": "Value",
    "reason": "Your reason",
}
"""What people type, by the end of the field's name: kept where it can no longer be sent."""
