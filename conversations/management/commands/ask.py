"""``manage.py ask "TEXT"``: one turn in the terminal."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations import selectors
from conversations.models import Replacement, Reply, Session, Turn
from conversations.states import TurnState
from conversations.turns import choosing, refusing, running, services
from conversations.turns.message import CHOICES, Choice, chosen
from conversations.turns.refusing import Refused
from ieim.knowledge import crisis, vectors
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.notices.services import MAX_TEXT, BadText, plain_text
from ieim.pipeline.message.screen import spelled
from ieim.pipeline.reply import reply as replies

HOW_TO_CHOOSE = "Add --personal-data remove or --personal-data send."
FINISHED = {
    *(TurnState.ANSWERED.value, TurnState.NEEDS_REVIEW.value, TurnState.ASKING.value),
    TurnState.WITH_PERSON.value,
}


class Command(BaseCommand):
    """Ask a question as a citizen would, and show every stage."""

    help = (
        "Run one turn in the terminal: its stages, findings, reply and sources. The exit code is 0 "
        "when the turn was answered, asks back or waits for a person, 1 when the message was "
        "refused or the model could not be reached. Write a text that begins with a dash after "
        '"--".'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("text", metavar="TEXT", help="the citizen's message, 2,000 characters")
        parser.add_argument(
            "--session",
            metavar="ID",
            help="go on with this session: the id or the reference that an earlier turn printed",
        )
        parser.add_argument(
            "--choose",
            metavar="N",
            help="where the turn asks back: the number of the service to choose, or none; several "
            "numbers with commas where the message may wish for several",
        )
        parser.add_argument(
            "--something-else",
            action="store_true",
            help="where the answer is still about what the session was: ask again without that",
        )
        parser.add_argument(
            "--personal-data",
            choices=CHOICES,
            help="where the message has an identity, card or account number in it: send it as it "
            "is, or remove the number",
        )
        parser.add_argument(
            "--directive",
            metavar="TEXT",
            default="",
            help="an instruction for the model in this run, which citizens are never shown; up to "
            f"{MAX_TEXT} characters",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, text: str, **options: Any) -> None:
        """Take the message, run the turn here, print what came of it."""
        if knowledge.current_number() is None:
            raise CommandError(
                "Nothing is published yet. Load a bundle first, for instance: "
                "manage.py load_knowledge ieim/knowledge/demo --publish"
            )
        directive = _directive(options["directive"])
        crisis.prepare(trains=False)  # no thread of this process does
        vectors.prepare_reading()
        session_id = _session_id(options["session"]) if options["session"] else None
        try:
            turn = _send(text, session_id, options["personal_data"])
        except refusing.NotChosen as error:
            raise CommandError(f"{error.message} {HOW_TO_CHOOSE}") from error
        except Refused as error:
            help_lines = [contact.text for contact in error.contacts]
            raise CommandError("\n".join([*help_lines, error.message])) from error
        self._run(turn, directive)
        if options["something_else"] or (not options["json"] and _denied(turn)):
            turn = _ask_again(turn)
            self._run(turn, directive)
        choice = options["choose"] or ("" if options["json"] else _prompt_choice(turn))
        if choice and _choose(turn, choice):
            self._run(turn, directive)
        result = describe(Turn.objects.select_related("session", "reply").get(pk=turn.pk))
        self.stdout.write(
            json.dumps(result, indent=2) if options["json"] else spelled(as_text(result))
        )
        if result["state"] not in FINISHED:
            raise CommandError("The model could not be reached. The turn is kept and tried again.")

    def _run(self, turn: Turn, directive: str) -> None:
        if directive:
            services.direct(turn_id=turn.pk, directive=directive)
        running.run_turn(turn_id=turn.pk, directive=directive)


def _directive(typed: str) -> str:
    try:
        return plain_text(typed, limit=MAX_TEXT) if typed else ""
    except BadText as bad:
        raise CommandError(f"--directive: {bad}") from bad


def _send(text: str, session_id: UUID | None, choice: Choice | None) -> Turn:
    """Take the message; somebody at a terminal chooses there what becomes of numbers in it."""
    try:
        session = session_id or services.new_secret()
        turn, _ = services.receive(session=session, text=text, personal_data=choice, enqueue=False)
        return turn
    except refusing.NotChosen as error:
        if not sys.stdin.isatty():
            raise
        numbers = [f"{number.name}: {number.text}" for number in error.numbers]
        print("\n".join([error.message, *numbers, f"Without: {error.shorter}"]))  # noqa: T201  # a prompt, as below
        answer = chosen(input("send, remove, or nothing to stop: ").strip().lower())
        if answer is None:
            raise
        return _send(text, session_id, answer)


def _prompt_choice(turn: Turn) -> str:
    """Return the choice that is entered at a terminal, empty without a terminal or a choice."""
    choice = _choice(Turn.objects.get(pk=turn.pk))
    if not choice["choice"] or not sys.stdin.isatty():
        return ""
    print("\n".join(_offer(choice)))  # noqa: T201  # a prompt, not the command's output
    most = len(choice["choice"])
    numbers = f"1 to {most}, several with commas" if choice["choice_several"] else f"1 to {most}"
    return input(f"Which of these do you mean? {numbers}, or none: ").strip()


def _denied(turn: Turn) -> bool:
    """Whether somebody at a terminal says that an answer is about something else."""
    reply = Reply.objects.filter(turn=turn).first()
    if reply is None or not reply.body.get("still_about") or not sys.stdin.isatty():
        return False
    print(f"Still about: {reply.body['still_about']}")  # noqa: T201  # a prompt, as below
    return input("Is it about something else? y, or nothing: ").strip().lower() in ("y", "yes")


def _ask_again(turn: Turn) -> Turn:
    """Ask the same as something else; return the turn itself where it is no use."""
    try:
        again, _ = services.ask_again(session_id=turn.session_id, turn_id=turn.pk, enqueue=False)
    except (services.NothingToReplace, services.NotAnswered):
        return turn  # the answer goes on with nothing, or there is none
    except Refused as error:
        raise CommandError(error.message) from error
    return again


def _choose(turn: Turn, choice: str) -> bool:
    """Take the choice where the turn asks for one; return whether it did."""
    try:
        numbers = choosing.numbers_of(re.split(r"[\s,]+", choice.strip()))
        choosing.choose(session_id=turn.session_id, turn_id=turn.pk, numbers=numbers)
    except choosing.NothingToChoose:
        return False  # it was answered, or a person has it: there is nothing to choose
    except choosing.ChoiceRefused as error:
        raise CommandError(error.message) from error
    return True


def _session_id(value: str) -> UUID:
    try:
        session = Session.objects.filter(pk=UUID(value)).first()
    except ValueError:
        session = Session.objects.filter(reference=value.upper()).first()
    if session is None:
        raise CommandError(
            f"There is no session {value!r}. Give the id or reference that an earlier turn printed."
        )
    return session.pk


def describe(turn: Turn) -> dict[str, Any]:
    """Return a turn as plain values: session, state, help lines, stages with findings, reply."""
    stages = [
        {
            "stage": stage.contract,
            "status": stage.status,
            "attempts": [
                {"attempt": attempt.number, "findings": attempt.findings}
                for attempt in stage.attempts.all()
            ],
        }
        for stage in turn.stages.prefetch_related("attempts")
    ]
    replaced = Replacement.objects.filter(by=turn).first()
    view = selectors.turn_view(turn.pk)
    spans = turn.reply.body.get("uncovered", []) if hasattr(turn, "reply") else []
    return {
        "session": str(turn.session_id),
        "reference": turn.session.reference,
        "turn": str(turn.pk),
        "number": turn.number,
        "state": turn.state,
        "release": turn.release_number,
        "contacts": view.contact_texts,
        "contacts_below": view.contacts_below,
        "stages": stages,
        **_choice(turn),
        "replaces": str(replaced.turn_id) if replaced is not None else None,
        "reply": turn.reply.body if hasattr(turn, "reply") else None,
        "uncovered": [turn.text[start:end] for start, end in spans],
    }


def _choice(turn: Turn) -> dict[str, Any]:
    choice = choosing.choice_view(turn)
    if choice is None:
        return dict.fromkeys(("choice", "choice_reason", "choice_notice", "choice_several"))
    return {
        "choice": [asdict(option) for option in choice.options],
        "choice_reason": choice.reason,
        "choice_notice": choice.notice,
        "choice_several": choice.several,
    }


def _offer(choice: dict[str, Any]) -> list[str]:
    lines = [choice["choice_notice"], ""] if choice["choice_notice"] else []
    for option in choice["choice"]:
        lines.append(f"  {option['number']}. {option['name']} ({option['agency_name']})")
        lines += [f"     {option['line']}"] if option["line"] else []
    return lines


def as_text(result: dict[str, Any]) -> str:
    """Return a described turn for a person to read."""
    lines = [f"Session {result['reference']} ({result['session']}), turn {result['number']}", ""]
    below = result["contacts_below"]
    lines += [*result["contacts"], ""] if result["contacts"] and not below else []
    for stage in result["stages"]:
        lines.append(f"  {stage['stage']:<32} {stage['status']}")
        for attempt in stage["attempts"]:
            for finding in attempt["findings"]:
                where = finding["path"] or "the whole answer"
                lines.append(
                    f"      attempt {attempt['attempt']}: {finding['code']} at {where}: "
                    f"{finding['message']}"
                )
    lines.append("")
    if result["reply"]:
        reply = replies.Reply.from_dict(result["reply"])
        if reply.still_about:
            lines += [f"Still about: {reply.still_about} (--something-else, if not)", ""]
        for part in result["uncovered"]:
            lines += [f"Not answered here: {part}", ""]
        lines.append(reply.as_text())
        lines += [f"Source: {s.service_name} ({s.agency_name}) {s.url}" for s in reply.sources]
    elif result["choice"]:
        lines.append("Which of these do you mean? Ask again with --choose and its number, or none.")
        lines += ["You can choose more than one: 1,2"] if result["choice_several"] else []
        lines += _offer(result)
    elif result["state"] == TurnState.NEEDS_REVIEW.value:
        lines.append(f"No safe answer: a person will look at it. Reference {result['reference']}.")
    lines += ["", *result["contacts"]] if below else []
    return "\n".join(lines)
