"""What a talk is about: read from its messages, and stored nowhere.

A message in a talk is a typed choice of what was offered, the question what comes next, or, as all
others, a question that the ranking reads with the talk.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ieim.pipeline.kinds import CORRECTION, INQUIRIES, NEXT, kind_of
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Key, Query, Shortlist
from ieim.pipeline.stages.base import OUTSIDE

MOST_NEXT = 3
"""So many services are answered at most where a citizen asks what comes next."""

REMEMBERED = 5
LONGEST_SUBJECT = 600
"""So many questions of a talk say what it is about, and so many of their last characters."""


class Talk(NamedTuple):
    """What a talk is about before a message.

    ``questions`` are the citizen's, without small talk and what only chose. ``answered`` are the
    services of the last answer, ``offered`` those of a choice that was asked for since.
    ``situation`` is the key of the one whose checklist was shown last, ``opened`` whether it was
    open, ``ticked`` are the services that the citizen has seen to.
    """

    questions: tuple[str, ...] = ()
    answered: tuple[Key, ...] = ()
    offered: tuple[Key, ...] = ()
    situation: str = ""
    opened: bool = False
    ticked: frozenset[Key] = frozenset()

    @property
    def question(self) -> str:
        """The citizen's last question."""
        return self.questions[-1] if self.questions else ""

    @property
    def subject(self) -> str:
        """The last questions, in their order: what goes on says little without them."""
        return " ".join(self.questions[-REMEMBERED:])[-LONGEST_SUBJECT:]

    @property
    def options(self) -> tuple[Key, ...]:
        """The services that a message can choose from: an offer, or an answer about several."""
        return self.offered or (self.answered if len(self.answered) > 1 else ())


class Reading(NamedTuple):
    """What a message means in its talk.

    ``query`` is what the search is asked. ``chosen`` are services that the message takes by itself,
    ``options`` those that they were chosen from, none where it asks what comes next. ``question``
    is the one that the reply answers: the citizen's last, where the message only chooses.
    """

    query: Query
    question: str
    chosen: tuple[Key, ...] = ()
    options: tuple[Key, ...] = ()


def read(
    text: str, history: Sequence[Mapping[str, Any]], shortlist: Shortlist, release: Release
) -> Reading:
    """Return what ``text`` means after ``history`` (``chat_context_summary``)."""
    messages, talk = _talk(history, shortlist, release)
    without = frozenset(_excluded([*messages, (text, talk)], shortlist, release))
    about = talk.offered or talk.answered
    query = Query(text, _subject(talk, shortlist), about, without)
    chosen = choice_of(text, talk.options, release)
    if chosen:
        return Reading(query, talk.question or text, chosen, talk.options)
    if chosen is not None:  # none of these: the question is asked again without them
        return Reading(Query(talk.question or text, without=without), text)
    if talk.answered and not talk.offered and kind_of(text, shortlist) == NEXT:
        done = {key for _, before in messages for key in before.answered} | {*talk.answered}
        done |= talk.ticked
        query = query._replace(without=without | done)
        return Reading(query, text, _following(talk, done, shortlist, release))
    return Reading(query, text)


def _subject(talk: Talk, shortlist: Shortlist) -> str:
    """Return what the talk is about in the citizen's words; empty where no service is about it, and
    none was answered or offered."""
    if talk.answered or talk.offered:
        return talk.subject
    is_subject = talk.subject and shortlist.rank(Query(talk.subject)).outside < OUTSIDE
    return talk.subject if is_subject else ""


def _following(
    talk: Talk, done: Collection[Key], shortlist: Shortlist, release: Release
) -> tuple[Key, ...]:
    """Return what comes next: the first service of the talk's checklist that is not ``done``, else
    those that the last answer's entries send on to; these first where the list was only offered."""
    situation = release.situations.get(talk.situation)
    steps = () if situation is None else release.steps(situation)
    listed = [key for key in steps if key not in done][:1]
    following = (
        (linked.service.agency, linked.service.key)
        for key in talk.answered
        for linked in shortlist.next_services(release.services[key])
        if not linked.before
    )
    linked = [key for key in dict.fromkeys(following) if key not in done][:MOST_NEXT]
    return tuple((listed or linked) if talk.opened else (linked or listed))


def choice_of(text: str, options: Sequence[Key], release: Release) -> tuple[Key, ...] | None:
    """Return the option that a message types, nothing for "none of these", None for no choice.

    It is a number, an ordinal or the whole name of an option, and nothing else but what
    ``choices.yaml`` lets stand around it.
    """
    if not options:
        return None
    words = _words()
    names = [_plain(_name(key, release)) for key in options]
    for form in _forms(_plain(text), words.around):
        if names.count(form) == 1:
            return (options[names.index(form)],)
        if form in words.none:
            return ()
        number = int(form) if len(form) == 1 and form.isdecimal() else words.numbers.get(form, 0)
        if number == LAST:
            return (options[-1],)
        if 1 <= number <= len(options):
            return (options[number - 1],)
    return None


def _talk(
    history: Sequence[Mapping[str, Any]], shortlist: Shortlist, release: Release
) -> tuple[list[tuple[str, Talk]], Talk]:
    """Return the citizen's messages, each with the talk before it, and the talk after all."""
    messages: list[tuple[str, Talk]] = []
    talk = before = Talk()
    for item in history:
        if item.get("role") == "user":
            text = str(item["text"])
            messages.append((text, talk))
            before, chosen = talk, choice_of(text, talk.options, release)
            if chosen is None and kind_of(text, shortlist) in INQUIRIES:
                talk = talk._replace(questions=(*talk.questions, text))
            elif chosen == ():
                talk = talk._replace(offered=())
        elif answered := _known(item.get("services") or [item], release):
            talk = talk._replace(answered=answered, offered=())
            if item.get("situation"):
                ticked = frozenset(_keys(item.get("done", ())))
                opened = bool(item.get("opened"))
                talk = talk._replace(situation=str(item["situation"]), opened=opened, ticked=ticked)
        elif offered := _known(item.get("offered", ()), release):
            talk = talk._replace(offered=offered)
        elif talk.answered or talk.offered:  # it asked for nothing that is here
            talk = talk._replace(questions=before.questions)
    return messages, talk


def _keys(references: Sequence[str]) -> Iterator[Key]:
    for reference in references:
        agency, _, service = reference.partition("/")
        yield agency, service


def _known(items: Sequence[Mapping[str, Any]], release: Release) -> tuple[Key, ...]:
    """Return the services of ``items``, and situations under their keys; one that does not say its
    agency is the only one with its key."""
    keys: list[Key] = []
    for item in items:
        agency, service = str(item.get("agency", "")), str(item.get("service", ""))
        if release.situation(service) is not None:
            keys.append((agency, service))
            continue
        same = [k for k in release.services if k[1] == service and agency in ("", k[0])]
        keys += same if len(same) == 1 else []
    return tuple(keys)


def _name(key: Key, release: Release) -> str:
    situation = release.situation(key[1])
    return situation.name if situation is not None else release.services[key].name


def _excluded(
    messages: Sequence[tuple[str, Talk]], shortlist: Shortlist, release: Release
) -> Iterator[Key]:
    """Yield the services that the last messages say are not meant.

    A correction excludes what was answered before it, "none of these" what was offered. What
    earlier messages excluded stands as long as no answer was accepted since.
    """
    for text, talk in reversed(messages):
        if talk.offered:
            if choice_of(text, talk.offered, release) == ():
                yield from talk.offered
        elif talk.answered:
            if kind_of(text, shortlist) != CORRECTION:
                return
            yield from talk.answered


class _Words(NamedTuple):
    around: tuple[str, ...]
    none: frozenset[str]
    numbers: Mapping[str, int]


LAST = -1
"""The number of the last option, however many there are."""


@cache
def _words() -> _Words:
    path = Path(__file__).with_name("choices.yaml")
    languages = yaml.safe_load(path.read_text(encoding="utf-8")).values()
    numbers = {
        _plain(form): number
        for language in languages
        for number, forms in [*enumerate(language["ordinals"], 1), (LAST, language["last"])]
        for form in forms
    }
    around = {_plain(form) for language in languages for form in language["around"]}
    none = frozenset(_plain(form) for language in languages for form in language["none"])
    return _Words(tuple(sorted(around, key=len, reverse=True)), none, numbers)


def _plain(text: str) -> str:
    """Return ``text`` in lower case, without accents and with single spaces for punctuation."""
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    characters = (
        c if unicodedata.category(c)[0] in "LN" else " " for c in letters if not _is_mark(c)
    )
    return " ".join("".join(characters).split())


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) == "Mn"


def _forms(text: str, around: Sequence[str]) -> Iterator[str]:
    """Yield ``text``, and what is left of it without each of ``around`` at its ends."""
    yield text
    while rest := next(filter(None, (_without(text, phrase) for phrase in around)), ""):
        text = rest
        yield text


def _without(text: str, words: str) -> str:
    """Return ``text`` without ``words`` at its beginning or its end, empty where they are not."""
    space = "" if words >= "\u4e00" else " "  # Han has no spaces
    if text.startswith(words + space):
        return text.removeprefix(words).lstrip()
    return text.removesuffix(words).rstrip() if text.endswith(space + words) else ""
