"""What a chat sends: a question, a press of a button, or something that the channel cannot read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ieim.telegram import calls, showing, translations
from ieim.telegram.api import BotApi, Refused, TooMany
from ieim.telegram.assistant import Assistant, Problem, Session
from ieim.telegram.state import Chat, Outgoing, State

_PRESSED = re.compile(r"([cs]):([0-9a-f-]{36})(?::([0-9]))?|p:(send|remove)", re.ASCII)


@dataclass
class Outcome:
    """What came of an update: ``conversation`` to store, and what to send to ``chat``.

    ``sent`` says that there is something to look at, ``erased`` that nothing is left.
    """

    chat: int
    language: str
    conversation: Session | None = None
    asked_at: float = 0.0
    sent: bool = False
    erased: bool = False
    calls: list[Outgoing] = field(default_factory=list)


class Handler:
    """Does with IEIM what an update asks for. It stores nothing before :meth:`store`."""

    def __init__(self, api: BotApi, assistant: Assistant, state: State) -> None:
        self._api, self._assistant, self._state = api, assistant, state

    def handle(self, update: dict[str, Any], *, now: float) -> Outcome:
        """Return what came of an update. Raises :class:`calls.Unreachable`: to be done again."""
        outcome = _begin(update)
        outcome.asked_at = now
        if outcome.chat == 0:
            return outcome  # nobody to answer
        stored = self._state.chat(outcome.chat)
        outcome.conversation = stored.session if stored else None
        if "callback_query" in update:
            self._pressed(update["callback_query"], outcome)
        elif isinstance(update.get("message"), dict):
            self._written(update["message"], outcome)
        return outcome

    def sorry(self, update: dict[str, Any]) -> Outcome:
        """Return what is sent where nothing can be done."""
        outcome = _begin(update)
        _send_text(outcome, _cannot(outcome))
        return outcome

    def store(self, outcome: Outcome) -> None:
        """Store the conversation of a chat, inside the caller's transaction."""
        if outcome.erased:
            self._state.forget(outcome.chat)
            self._state.unsend(outcome.chat)
        elif outcome.conversation is not None:
            stored = self._state.chat(outcome.chat)
            if stored is not None and stored.session != outcome.conversation:
                self._state.forget(outcome.chat)  # what the other one told is not of this one
            look_at = outcome.asked_at if outcome.sent or stored is None else stored.look_at
            asked_at = outcome.asked_at if outcome.sent or stored is None else stored.asked_at
            chat = Chat(outcome.chat, outcome.language, outcome.conversation, asked_at, look_at)
            self._state.put(chat)

    def _written(self, message: dict[str, Any], outcome: Outcome) -> None:
        _ = translations.translation(outcome.language).gettext
        text = message.get("text")
        if message["chat"].get("type") != "private":
            _send_text(
                outcome,
                _("I answer in private chats only, so that nobody else reads your questions."),
            )
            outcome.calls.append(Outgoing("leaveChat", {"chat_id": outcome.chat}))
        elif not isinstance(text, str):
            _send_text(outcome, _("I can only read text. Please write your question."))
        elif text.startswith("/delete"):
            self._erase(outcome)
        elif text.startswith("/"):
            _send_text(outcome, self._greeting(outcome.language))
        else:
            self._ask(outcome, message, None)

    def _greeting(self, language: str) -> str:
        _ = translations.translation(language).gettext
        about = self._assistant.administration(language=language)
        privacy = _("Privacy")
        name, number = about.get("name") or "IEIM", about.get("emergency_number", "")
        lines = [
            _("This is the automated assistant (AI) of {name}.").format(name=name),
            _(
                "Write your question. The answer comes from the administration’s own list of "
                "services; where the assistant is not sure, a person answers."
            ),
            _(
                "Telegram can read what you write here. Please send no identity, card or account "
                "numbers. /delete erases your conversation with us."
            ),
            _("Is a life in danger? Call {number}.").format(number=number) if number else "",
            f"{privacy}: {self._assistant.origin}/privacy/",
        ]
        return "\n\n".join(each for each in lines if each)

    def _ask(self, outcome: Outcome, message: dict[str, Any], personal_data: str | None) -> None:
        text = str(message["text"]).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        name = f"{outcome.chat}:{message['message_id']}"

        def send(session: Session) -> None:
            self._assistant.ask(
                session,
                text,
                client_id=name,
                language=outcome.language,
                personal_data=personal_data,
            )

        problem = self._in_session(outcome, send)
        if problem is None:
            return
        for contact in problem.contacts:
            _send_text(
                outcome, showing.help_now(contact, translations.translation(outcome.language))
            )
        if problem.name == "personal-data":
            self._choose_numbers(outcome, message, text, problem)
        else:
            _send_text(outcome, problem.detail or _cannot(outcome))

    def _choose_numbers(
        self, outcome: Outcome, message: dict[str, Any], text: str, problem: Problem
    ) -> None:
        """Ask about numbers. The message stays with Telegram: the question is a reply to it, and
        so comes back with what is pressed."""
        catalogue = translations.translation(outcome.language)
        _ = catalogue.gettext
        found = [_("“{name}”").format(name=text[start:end]) for start, end in problem.found]
        shorter = catalogue.ngettext("Send without it", "Send without them", len(found))
        buttons = ((shorter, "p:remove"), (_("Send as it is"), "p:send"))
        question = showing.messages(outcome.chat, "\n\n".join([problem.detail, *found]), buttons)
        question[-1].body["reply_parameters"] = {"message_id": message["message_id"]}
        outcome.calls += question

    def _pressed(self, query: dict[str, Any], outcome: Outcome) -> None:
        message = query["message"]
        matched = _PRESSED.fullmatch(str(query.get("data")))
        _ = translations.translation(outcome.language).gettext
        if matched is None:
            return
        what, turn, number, personal_data = matched.groups()
        if personal_data is not None:
            original = message.get("reply_to_message")
            if isinstance(original, dict) and isinstance(original.get("text"), str):
                self._ask(outcome, original, personal_data)
            else:
                _send_text(outcome, _("Your message is gone. Please send it again."))
        else:
            chosen = int(number or 0) or None
            problem = self._answer(outcome, turn, chosen, choosing=what == "c")
            if problem is not None:
                _send_text(outcome, problem)
        self._settle(query, outcome)

    def _answer(
        self, outcome: Outcome, turn: str, number: int | None, *, choosing: bool
    ) -> str | None:
        """Do what a button of a turn says; returns what to _ where that cannot be done."""
        _ = translations.translation(outcome.language).gettext
        closed = _("This conversation is closed. Please write your question again.")
        if outcome.conversation is None:
            return closed
        outcome.sent = True  # to be looked at in any case
        try:
            if choosing:
                self._assistant.choose(
                    outcome.conversation, turn, number, language=outcome.language
                )
            else:
                self._assistant.something_else(
                    outcome.conversation, turn, language=outcome.language
                )
        except Problem as problem:
            if problem.status != 401:
                return problem.detail or _cannot(outcome)
            outcome.erased = True  # by whoever has the link
            return closed
        return None

    def _settle(self, query: dict[str, Any], outcome: Outcome) -> None:
        """Let the button rest, and take the buttons away. Where that fails nothing is lost."""
        keyboard = {"chat_id": outcome.chat, "message_id": query["message"].get("message_id")}
        for method, body in (
            ("answerCallbackQuery", {"callback_query_id": query.get("id")}),
            ("editMessageReplyMarkup", keyboard),
        ):
            try:
                self._api.call(method, body)
            except (Refused, TooMany, calls.Unreachable):
                return

    def _erase(self, outcome: Outcome) -> None:
        if outcome.conversation is not None:
            try:
                self._assistant.erase(outcome.conversation, language=outcome.language)
            except Problem as problem:
                if problem.status != 401:  # it is erased already
                    raise calls.Broken(f"status {problem.status}") from None
        outcome.erased = True
        _ = translations.translation(outcome.language).gettext
        _send_text(
            outcome,
            _(
                "Your conversation is erased here. What stands in this chat, Telegram keeps until "
                "you delete it."
            ),
        )

    def _in_session(self, outcome: Outcome, send: Callable[[Session], None]) -> Problem | None:
        """Do something in the chat's conversation; a new one where there is none any more."""
        for _ in range(2):
            try:
                if outcome.conversation is None:
                    outcome.conversation = self._assistant.open(language=outcome.language)
                send(outcome.conversation)
            except Problem as problem:
                if problem.status not in (401, 404):
                    return problem
                outcome.conversation = None  # erased, by whoever has the link
            else:
                outcome.sent = True
                return None
        return Problem(404, "", "")


def _begin(update: dict[str, Any]) -> Outcome:
    """Return an update's chat and language. ``chat`` is 0 where there is none to answer."""
    query = update.get("callback_query")
    query = query if isinstance(query, dict) else {}
    message = query.get("message") if query else update.get("message")
    message = message if isinstance(message, dict) else {}
    chat = message.get("chat")
    sender = (query or message).get("from")
    code = sender.get("language_code") if isinstance(sender, dict) else None
    found = chat.get("id") if isinstance(chat, dict) else None
    return Outcome(found if isinstance(found, int) else 0, translations.language(code))


def _send_text(outcome: Outcome, text: str) -> None:
    outcome.calls += showing.messages(outcome.chat, text)


def _cannot(outcome: Outcome) -> str:
    _ = translations.translation(outcome.language).gettext
    return _("The assistant cannot be reached. Please send your message again later.")
