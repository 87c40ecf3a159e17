"""Plays the scripted conversations through the real services, and says how each message ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from conversations.models import Attempt, Turn
from conversations.turns import choosing, flags, running, services
from ieim.knowledge import crisis, vectors
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.ports import Model
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import Reply
from tests.competent.model import Call, CompetentModel

FOLDER = Path(__file__).parent / "conversations"


@dataclass(frozen=True)
class End:
    """How a message ended: ``kind`` is ``shows``, ``asks``, ``held``, ``outside`` or
    ``guidance``.

    ``services`` are shown, or offered; ``opens`` are the fields that are open above, in order;
    ``why`` are the codes of a hold, or the case of guidance; ``help`` the flags of danger whose
    help lines stand at the message, ``in_danger`` says whether one of them is sure.
    """

    kind: str
    services: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    in_danger: bool = False


@dataclass
class Played:
    """A message of the script with how it ended, and what was asked of the model for it."""

    name: str
    says: str
    wanted: Mapping[str, Any]
    end: End
    calls: list[Call] = field(default_factory=list)
    first_passed: int = 0
    first_attempts: int = 0

    @property
    def right(self) -> bool:
        """Whether a clerk would want this end."""
        return _fits(self.wanted, self.end)

    @property
    def held_though_right(self) -> bool:
        """Whether a person got what could have been shown, of somebody who is in no danger."""
        return self.end.kind == "held" and "shows" in self.wanted and not self.end.in_danger

    def __str__(self) -> str:
        return f"{self.name}: {self.says!r}\n  wanted {dict(self.wanted)}\n  got {self.end}"


def _fits(wanted: Mapping[str, Any], end: End) -> bool:
    if "help" in wanted and wanted["help"] not in end.help:
        return False
    if "shows" in wanted:
        needed, also = set(wanted["shows"]), set(wanted.get("also", ()))
        right = end.kind == "shows" and needed <= set(end.services) <= needed | also
        opens = end.opens[:1] == (wanted["opens"],) if "opens" in wanted else True
        first = end.services[:1] and end.services[0].startswith(f"{wanted.get('first', '')}")
        return bool(right and opens and first)
    if "asks" in wanted:
        # Where nothing is to be offered, a person may have it as well: nothing was shown.
        kinds = {"asks"} if wanted["asks"] else {"asks", "held", "outside"}
        return end.kind in kinds and set(wanted["asks"]) <= set(end.services)
    kind = "held" if "held" in wanted else "guidance"
    return end.kind == kind and wanted[kind] in end.why


def conversations() -> Iterator[Mapping[str, Any]]:
    """Yield the script's conversations."""
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from yaml.safe_load(path.read_text(encoding="utf-8"))


def prepare() -> None:
    """Let the newest release be searched by words and meaning, as in production."""
    release = knowledge.newest()
    assert release is not None
    vectors.prepare_reading()
    vectors.prepare(knowledge.release(release.number))
    crisis.prepare(trains=True)


def play(
    conversation: Mapping[str, Any], competent: CompetentModel, model: Model
) -> Iterator[Played]:
    """Play a conversation in a session of its own; yields its messages and choices in order."""
    secret = services.new_secret()
    for message in conversation["turns"]:
        turn = _send(secret, message["says"], message, competent, model)
        yield _played(conversation, message["says"], message["ends"], turn, competent)
        if "then" not in message:
            continue
        chosen = message["chooses"]
        if isinstance(chosen, str):
            turn = _send(secret, chosen, message, competent, model)
        elif turn.state == "asking":
            offered = [key for _, key in turn.choice.offered]
            numbers = [offered.index(key) + 1 for key in chosen if key in offered]
            choosing.choose(session_id=turn.session_id, turn_id=turn.pk, numbers=numbers)
            running.run_turn(turn_id=turn.pk, model=model)
            turn = Turn.objects.select_related("session").get(pk=turn.pk)
        yield _played(conversation, f"chooses {chosen}", message["then"], turn, competent)


def _send(
    secret: str, text: str, understood: Mapping[str, Any], competent: CompetentModel, model: Model
) -> Turn:
    competent.understood, competent.calls = understood, []
    turn, _ = services.receive(session=secret, text=text, personal_data="send", enqueue=False)
    running.run_turn(turn_id=turn.pk, model=model)
    return Turn.objects.select_related("session").get(pk=turn.pk)


def _played(
    conversation: Mapping[str, Any],
    says: str,
    wanted: Mapping[str, Any],
    turn: Turn,
    competent: CompetentModel,
) -> Played:
    attempts = Attempt.objects.filter(stage__turn=turn, number=1)
    passed = sum(not attempt.findings for attempt in attempts)
    calls, competent.calls = competent.calls, []
    end = _end(turn)
    return Played(conversation["name"], says, wanted, end, calls, passed, len(attempts))


def _end(turn: Turn) -> End:
    labels = knowledge.release(turn.release_number).labels["risk_flags"]
    dangers = [result for result in flags.signs_of(turn) if labels[result.code].escalates]
    of_danger: dict[str, Any] = {
        "help": tuple(danger.code for danger in dangers),
        "in_danger": not all(danger.weak for danger in dangers),
    }
    if turn.state == "asking":
        return End("asks", tuple(key for _, key in turn.choice.offered), **of_danger)
    if turn.state != "answered":
        codes = {code for item in turn.review_items.all() for code in item.reasons}
        return End("held", why=tuple(sorted(codes)) or (turn.state,), **of_danger)
    reply = Reply.from_dict(turn.reply.body)
    if reply.kind == "outside":
        return End("outside", **of_danger)
    if reply.kind == "guidance":
        return End("guidance", why=(_case(reply, turn),), **of_danger)
    sections = reply.cards[0].sections if reply.cards else reply.sections
    opens = tuple(section.field for section in sections if not section.folded)
    return End("shows", tuple(source.service_key for source in reply.sources), opens, **of_danger)


def _case(reply: Reply, turn: Turn) -> str:
    release = knowledge.release(turn.release_number)
    texts = guidance.texts(release, [reply.language, turn.language])
    text = " ".join(reply.paragraphs)
    return next((case for case, result in texts.items() if result.text == text), "?")
