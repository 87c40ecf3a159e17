"""What a chat sends: a question, a press of a button, or something that the channel cannot read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ieim.telegram import calls, showing, words
from ieim.telegram.api import BotApi, Refused, TooMany
from ieim.telegram.assistant import Assistant, Problem, Session
from ieim.telegram.state import Chat, Outgoing, State

_PRESSED = re.compile(r"([cs]):([0-9a-f-]{36})(?::([0-9]))?|p:(send|remove)", re.ASCII)


@dataclass
class Said:
    """What came of an update: ``conversation`` to store, and what to send to ``chat``.

    ``asked`` says that there is something to look at, ``erased`` that nothing is left.
    """

    chat: int
    language: str
    conversation: Session | None = None
    asked_at: float = 0.0
    asked: bool = False
    erased: bool = False
    calls: list[Outgoing] = field(default_factory=list)


class Handler:
    """Does with IEIM what an update asks for. It stores nothing before :meth:`store`."""

    def __init__(self, api: BotApi, assistant: Assistant, state: State) -> None:
        self._api, self._assistant, self._state = api, assistant, state

    def handle(self, update: dict[str, Any], *, now: float) -> Said:
        """Return what came of an update. Raises :class:`calls.Unreachable`: to be done again."""
        said = _begin(update)
        said.asked_at = now
        if said.chat == 0:
            return said  # nobody to answer
        known = self._state.chat(said.chat)
        said.conversation = known.session if known else None
        if "callback_query" in update:
            self._pressed(update["callback_query"], said)
        elif isinstance(update.get("message"), dict):
            self._written(update["message"], said)
        return said

    def sorry(self, update: dict[str, Any]) -> Said:
        """Return what is said where nothing can be done."""
        said = _begin(update)
        _tell(said, _cannot(said))
        return said

    def store(self, said: Said) -> None:
        """Store the conversation of a chat, inside the caller's transaction."""
        if said.erased:
            self._state.forget(said.chat)
            self._state.unsend(said.chat)
        elif said.conversation is not None:
            known = self._state.chat(said.chat)
            if known is not None and known.session != said.conversation:
                self._state.forget(said.chat)  # what the other one told is not of this one
            look_at = said.asked_at if said.asked or known is None else known.look_at
            asked_at = said.asked_at if said.asked or known is None else known.asked_at
            chat = Chat(said.chat, said.language, said.conversation, asked_at, look_at)
            self._state.put(chat)

    def _written(self, message: dict[str, Any], said: Said) -> None:
        _ = words.words(said.language).gettext
        text = message.get("text")
        if message["chat"].get("type") != "private":
            _tell(
                said,
                _("I answer in private chats only, so that nobody else reads your questions."),
            )
            said.calls.append(Outgoing("leaveChat", {"chat_id": said.chat}))
        elif not isinstance(text, str):
            _tell(said, _("I can only read text. Please write your question."))
        elif text.startswith("/delete"):
            self._erase(said)
        elif text.startswith("/"):
            _tell(said, self._greeting(said.language))
        else:
            self._ask(said, message, None)

    def _greeting(self, language: str) -> str:
        _ = words.words(language).gettext
        about = self._assistant.administration(language=language)
        privacy = _("Privacy")
        name, number = about.get("name") or "IEIM", about.get("emergency_number", "")
        told = [
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
        return "\n\n".join(each for each in told if each)

    def _ask(self, said: Said, message: dict[str, Any], personal_data: str | None) -> None:
        text = str(message["text"]).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        name = f"{said.chat}:{message['message_id']}"

        def send(session: Session) -> None:
            self._assistant.ask(
                session,
                text,
                client_id=name,
                language=said.language,
                personal_data=personal_data,
            )

        problem = self._in_session(said, send)
        if problem is None:
            return
        for contact in problem.contacts:
            _tell(said, showing.help_now(contact, words.words(said.language)))
        if problem.name == "personal-data":
            self._choose_numbers(said, message, text, problem)
        else:
            _tell(said, problem.detail or _cannot(said))

    def _choose_numbers(
        self, said: Said, message: dict[str, Any], text: str, problem: Problem
    ) -> None:
        """Ask about numbers. The message stays with Telegram: the question is a reply to it, and
        so comes back with what is pressed."""
        translations = words.words(said.language)
        _ = translations.gettext
        found = [_("“{name}”").format(name=text[start:end]) for start, end in problem.found]
        shorter = translations.ngettext("Send without it", "Send without them", len(found))
        buttons = ((shorter, "p:remove"), (_("Send as it is"), "p:send"))
        asked = showing.messages(said.chat, "\n\n".join([problem.detail, *found]), buttons)
        asked[-1].body["reply_parameters"] = {"message_id": message["message_id"]}
        said.calls += asked

    def _pressed(self, query: dict[str, Any], said: Said) -> None:
        message = query["message"]
        matched = _PRESSED.fullmatch(str(query.get("data")))
        _ = words.words(said.language).gettext
        if matched is None:
            return
        what, turn, number, personal_data = matched.groups()
        if personal_data is not None:
            asked = message.get("reply_to_message")
            if isinstance(asked, dict) and isinstance(asked.get("text"), str):
                self._ask(said, asked, personal_data)
            else:
                _tell(said, _("Your message is gone. Please send it again."))
        else:
            chosen = int(number or 0) or None
            problem = self._answer(said, turn, chosen, choosing=what == "c")
            if problem is not None:
                _tell(said, problem)
        self._settle(query, said)

    def _answer(self, said: Said, turn: str, number: int | None, *, choosing: bool) -> str | None:
        """Do what a button of a turn says; returns what to _ where that cannot be done."""
        _ = words.words(said.language).gettext
        closed = _("This conversation is closed. Please write your question again.")
        if said.conversation is None:
            return closed
        said.asked = True  # to be looked at in any case
        try:
            if choosing:
                self._assistant.choose(said.conversation, turn, number, language=said.language)
            else:
                self._assistant.something_else(said.conversation, turn, language=said.language)
        except Problem as problem:
            if problem.status != 401:
                return problem.detail or _cannot(said)
            said.erased = True  # by whoever has the link
            return closed
        return None

    def _settle(self, query: dict[str, Any], said: Said) -> None:
        """Let the button rest, and take the buttons away. Where that fails nothing is lost."""
        keyboard = {"chat_id": said.chat, "message_id": query["message"].get("message_id")}
        for method, body in (
            ("answerCallbackQuery", {"callback_query_id": query.get("id")}),
            ("editMessageReplyMarkup", keyboard),
        ):
            try:
                self._api.call(method, body)
            except (Refused, TooMany, calls.Unreachable):
                return

    def _erase(self, said: Said) -> None:
        if said.conversation is not None:
            try:
                self._assistant.erase(said.conversation, language=said.language)
            except Problem as problem:
                if problem.status != 401:  # it is erased already
                    raise calls.Broken(f"status {problem.status}") from None
        said.erased = True
        _ = words.words(said.language).gettext
        _tell(
            said,
            _(
                "Your conversation is erased here. What stands in this chat, Telegram keeps until "
                "you delete it."
            ),
        )

    def _in_session(self, said: Said, send: Callable[[Session], None]) -> Problem | None:
        """Do something in the chat's conversation; a new one where there is none any more."""
        for _ in range(2):
            try:
                if said.conversation is None:
                    said.conversation = self._assistant.open(language=said.language)
                send(said.conversation)
            except Problem as problem:
                if problem.status not in (401, 404):
                    return problem
                said.conversation = None  # erased, by whoever has the link
            else:
                said.asked = True
                return None
        return Problem(404, "", "")


def _begin(update: dict[str, Any]) -> Said:
    """Return an update's chat and language. ``chat`` is 0 where there is none to answer."""
    query = update.get("callback_query")
    query = query if isinstance(query, dict) else {}
    message = query.get("message") if query else update.get("message")
    message = message if isinstance(message, dict) else {}
    chat = message.get("chat")
    sender = (query or message).get("from")
    told = sender.get("language_code") if isinstance(sender, dict) else None
    found = chat.get("id") if isinstance(chat, dict) else None
    return Said(found if isinstance(found, int) else 0, words.language(told))


def _tell(said: Said, text: str) -> None:
    said.calls += showing.messages(said.chat, text)


def _cannot(said: Said) -> str:
    _ = words.words(said.language).gettext
    return _("The assistant cannot be reached. Please send your message again later.")
