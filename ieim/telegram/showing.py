"""What a chat is sent of its conversation: facts, each sent once, as plain text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Any

from ieim.telegram.state import Outgoing

LONGEST = 4096
"""UTF-16 units of a message, as Telegram counts them."""
BUTTON = 60
"""Characters of a button: phones show no more."""

Buttons = tuple[tuple[str, str], ...]
"""Rows of one button each: what it says, and what comes back when it is pressed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to tell: ``key`` names it within the chat."""

    key: str
    text: str
    buttons: Buttons = ()


def units(text: str) -> int:
    """Return how long Telegram takes a text to be."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parts(text: str) -> Iterator[str]:
    """Yield a text in parts that Telegram takes, cut between paragraphs, lines or words."""
    text = text.strip()
    while units(text) > LONGEST:
        fits = text.encode("utf-16-le")[: 2 * LONGEST].decode("utf-16-le", "ignore")
        places = (fits.rfind(sign) for sign in ("\n\n", "\n", " "))
        # Not so early that a part is next to nothing.
        cut = next((place for place in places if place > len(fits) // 2), len(fits))
        yield text[:cut].rstrip()
        text = text[cut:].lstrip()
    if text:
        yield text


def messages(chat: int, text: str, buttons: Buttons = ()) -> list[Outgoing]:
    """Return the calls that send a text, as plain text; the buttons stand beneath its end."""
    calls = [
        Outgoing(
            "sendMessage",
            {"chat_id": chat, "text": part, "link_preview_options": {"is_disabled": True}},
        )
        for part in parts(text)
    ]
    if buttons and calls:
        rows = [[{"text": label, "callback_data": data}] for label, data in buttons]
        calls[-1].body["reply_markup"] = {"inline_keyboard": rows}
    return calls


def help_now(contact: str, catalogue: NullTranslations) -> str:
    """Return what somebody in danger is told before anything else."""
    _ = catalogue.gettext
    title = _("Please get help now")
    return f"{title}\n{contact}"


def facts(session: Mapping[str, Any], catalogue: NullTranslations) -> Iterator[Fact]:
    """Yield all that there is to tell of a conversation as it stands, in order."""
    for turn in session["turns"]:
        yield from _of_turn(turn, str(session["reference"]), catalogue)


def _of_turn(
    turn: Mapping[str, Any], reference: str, catalogue: NullTranslations
) -> Iterator[Fact]:
    _, state, key = catalogue.gettext, turn["state"], turn["id"]
    for contact in turn["contacts"]:
        digest = hashlib.sha256(contact.encode()).hexdigest()[:16]
        yield Fact(f"{key}:contact:{digest}", help_now(contact, catalogue))
    if turn["longer"]:
        yield Fact(
            f"{key}:longer",
            _(
                "Many people are asking at the moment, so it takes longer. Your question is safe; "
                "you do not need to send it again."
            ),
        )
    if state == "awaiting_model":
        yield Fact(
            f"{key}:waiting",
            _(
                "The assistant cannot be reached at the moment. Your question is safe, and we try "
                "again by ourselves. You do not need to send it again."
            ),
        )
    if turn["choice"]:
        yield _choice(turn["choice"], key, catalogue, helped=bool(turn["contacts"]))
    if state == "needs_review":
        yield Fact(f"{key}:held", _held(turn, reference, catalogue))
    if turn["reply"]:
        yield _reply(turn["reply"], key, catalogue)
    elif state == "closed":
        title = _("This question is closed")
        text = _("There is no answer to it, and none will follow. You can ask again.")
        yield Fact(f"{key}:closed", f"{title}\n\n{text}")
    for number, correction in enumerate(turn["corrections"]):
        title = _("This answer has been corrected")
        yield Fact(f"{key}:correction:{number}", f"{title}\n\n{correction['text']}")
    for line in turn["lines"]:
        yield Fact(f"{key}:line:{line['at']}", _line(line, catalogue))


def _choice(
    choice: Mapping[str, Any], turn: str, catalogue: NullTranslations, *, helped: bool
) -> Fact:
    _ = catalogue.gettext
    question = _("Which of these do you mean?")
    if helped:  # Who may be in danger is not asked what they mean.
        read = _(
            "A caseworker also reads your message. You do not need to wait for that, or to send "
            "it again."
        )
        perhaps = _("Services that may be about this")
        question = f"{read}\n\n{perhaps}"
    lines = [choice["notice"], question]
    options = [(f"{each['name']} ({each['agency_name']})", each) for each in choice["options"]]
    lines += [f"{each['number']}. {name}\n{each['line']}".rstrip() for name, each in options]
    pressed = [
        (_short(f"{e['number']}. {e['name']}"), f"c:{turn}:{e['number']}") for name, e in options
    ]
    none = (_("None of these"), f"c:{turn}:0")
    return Fact(f"{turn}:choice", _joined(lines), (*pressed, none))


def _held(turn: Mapping[str, Any], reference: str, catalogue: NullTranslations) -> str:
    _ = catalogue.gettext
    lines = [_("A person will answer this question")]
    if not turn["person"]:
        lines.append(
            _(
                "The assistant could not answer this safely by itself, so it does not guess. It "
                "has passed your question to a caseworker."
            )
        )
    lines.append(_("The answer comes in this chat. You do not need to send it again."))
    named = _("Your reference")
    lines.append(f"{named}: {reference}")
    return _joined(lines)


def _reply(reply: Mapping[str, Any], turn: str, catalogue: NullTranslations) -> Fact:
    _ = catalogue.gettext
    still = reply["still_about"]
    about = _("Still about:")
    lines = [f"{about} {still}" if still else ""]
    for notice in reply["agency_notices"]:
        title = _("Notice from {agency}") if notice["agency"] else _("Notice")
        lines.append(f"{title.format(agency=notice['agency'])}: {notice['text']}")
    lines += [reply["title"], reply["notice"], reply["lead"], *reply["paragraphs"]]
    if reply["unsaid"]:
        title = _("The service list does not say")
        text = _(
            "What you asked is not in the entry for this service. The office below can tell you."
        )
        lines.append(f"{title}\n{text}")
    lines += _lists(reply["facts"])
    for card in reply["cards"]:
        lines += [f"{card['title']} ({card['agency']})", card["deadline"], card["lead"]]
        lines += _lists(card["facts"])
    left_out = _(
        "“{agency}” has nothing that fits your message, so nothing is said of it here. Ask about "
        "it in a message of its own, or talk to a person."
    )
    lines += [left_out.format(agency=name) for name in reply["unanswered"]]
    if reply["next_services"]:
        names = "; ".join(each["service"] for each in reply["next_services"])
        title = _("You may need this too")
        lines.append(f"{title}: {names}")
    if reply["uncovered"]:
        quoted = (_("“{name}”").format(name=each) for each in reply["uncovered"])
        title = _("Not answered here")
        text = _(
            "This part of your question is not in the answer above. Ask it again in a message of "
            "its own."
        )
        lines.append("\n".join([title, *quoted, text]))
    if reply["sources"]:
        title = _("Source") if len(reply["sources"]) == 1 else _("Sources")
        lines.append("\n".join([title, *map(_source, reply["sources"])]))
    lines.append(_origin(reply, catalogue))
    other: Buttons = ((_("Something else"), f"s:{turn}"),) if still else ()
    return Fact(f"{turn}:reply", _joined(lines), other)


def _lists(facts: list[Mapping[str, Any]]) -> Iterator[str]:
    for fact in facts:
        marks = (f"{n}." if fact["ordered"] else "–" for n in range(1, len(fact["items"]) + 1))
        items = [f"{mark} {item}" for mark, item in zip(marks, fact["items"], strict=True)]
        yield "\n".join([fact["heading"], *items])


def _source(source: Mapping[str, str]) -> str:
    named = f"{source['agency']}: {source['service']}"
    return f"{named}\n{source['url']}" if source["url"] else named


def _origin(reply: Mapping[str, Any], catalogue: NullTranslations) -> str:
    """Return whose words a reply is: that it is a machine's has to be stated."""
    _, origin = catalogue.gettext, reply["origin"]
    sentences = {
        "index": _(
            "Chosen by an automated assistant (AI). Every word comes from the service list."
        ),
        "model_approved": _("A caseworker checked this answer."),
        "staff_override": _("A caseworker corrected this answer."),
        "staff": _("A caseworker wrote this answer."),
        "citizen_choice": _(
            "You chose this from what the assistant offered. It is shown as it stands in the "
            "service list."
        ),
    }
    if origin == "staff" and reply["kind"] == "question":
        return _("A caseworker asks you this. Please answer in this chat.")
    of_index = origin == "index" and (reply["offline"] or reply["kind"] == "outside")
    if origin in sentences and not of_index:
        return sentences[origin]
    if reply["kind"] in ("guidance", "outside"):
        if reply["prepared"] or reply["kind"] == "outside":
            return _("This is a prepared text.")
        return _("Written by an automated assistant (AI).")
    if reply["offline"]:
        return _(
            "Put together by the offline engine from the service list, without a language model."
        )
    return _("Written by an automated assistant (AI) and checked against the service list.")


def _line(line: Mapping[str, Any], catalogue: NullTranslations) -> str:
    _ = catalogue.gettext
    if line["kind"] == "joined":
        return _("A person has joined. They read and answer here; the assistant is silent.")
    if line["kind"] == "left" and line["read"]:
        return _(
            "The person has left. A person reads what you write from here on, and answers it. "
            "The assistant answers only what is clearly about a service."
        )
    if line["kind"] == "left":
        return _("The person has left. The assistant answers what you ask from here on.")
    title = _("A person wrote")
    return f"{title}\n\n{line['text']}"


def _joined(lines: list[str]) -> str:
    return "\n\n".join(line for line in lines if line)


def _short(text: str) -> str:
    return text if len(text) <= BUTTON else f"{text[: BUTTON - 1].rstrip()}…"
