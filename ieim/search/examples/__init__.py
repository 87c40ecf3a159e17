"""The example texts that train the crisis classifier and the reader of messages.

They are data files in this folder; ``python -m ieim.search.train`` makes the weights from them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from ieim.pipeline.knowledge import RiskExample
from ieim.pipeline.reply.guidance import UNCLEAR

WHOLE_SERVICE: Final = "none"
"""The name of what asks for a service as a whole, among the fields that questions ask about."""

_SUBJECTS_EACH: Final = 3
"""A question about a field is an example with so many subjects."""

_EVERY: Final = 5
"""Every fifth message is an example of no crisis as well: with all of them training takes six times
as long, and finds no more."""

_CASES: Final = {
    "greeting": "greeting",
    "thanks": "thanks",
    "acknowledgement": "thanks",
    "abuse": "abuse",
    "nonsense": UNCLEAR,
}
"""The case of each topic of ``others.yaml``; any other topic is off topic."""

_IN_ONE_LANGUAGE: Final = ("greeting", "thanks")
"""Cases that people write in one language and not in passing in another."""

_NO_TOPIC: Final = (
    *("follow_up", "correction", "thanks_and_more", "complaints"),
    *("application_status", "offices_and_appointments", "online_account_and_forms"),
)
"""What ``inquiries.yaml`` has that may be about anything."""

_CLOSING: Final = ("greeting", "thanks", "acknowledgement")
_NO_LETTERS = re.compile(r"[\W_]+")


class Kind(Enum):
    """``INQUIRY``: asked of an administration, and clear by itself. ``FOLLOW_UP``: asked of one,
    about what was answered before. ``CORRECTION``: asked of one, of something else than what was
    answered. ``THANKS_AND_MORE``: thanks, and with them something that is wanted. ``CLOSING``: a
    greeting, thanks, or that it was understood. ``OTHER``: none of them.
    """

    INQUIRY = "inquiry"
    FOLLOW_UP = "follow_up"
    CORRECTION = "correction"
    THANKS_AND_MORE = "thanks_and_more"
    CLOSING = "closing"
    OTHER = "other"


_IN_A_TALK: Final = (Kind.FOLLOW_UP, Kind.CORRECTION, Kind.THANKS_AND_MORE)


class Exact(NamedTuple):
    """The case and the language of an example; ``language`` is empty where several have it."""

    case: str
    language: str


class CrisisExamples(NamedTuple):
    """``codes`` has the risk flag of each text, empty for a near miss or an ordinary text; ``near``
    are the positions of the near misses."""

    texts: tuple[str, ...]
    codes: tuple[str, ...]
    near: tuple[int, ...]


@cache
def messages() -> tuple[tuple[str, Kind], ...]:
    """Return the messages in the order of their files, each with its kind."""
    talk = {kind.value: kind for kind in _IN_A_TALK}
    found = [(text, talk.get(topic, Kind.INQUIRY)) for topic, _, text in _texts("inquiries")]
    for topic, _, text in _texts("others"):
        found.append((text, Kind.CLOSING if topic in _CLOSING else Kind.OTHER))
    return tuple(found)


@cache
def topics() -> dict[str, str]:
    """Return the topic of each message that is about one, by its text."""
    return {text: topic for topic, _, text in _texts("inquiries") if topic not in _NO_TOPIC}


@cache
def questions() -> tuple[tuple[str, str], ...]:
    """Return questions in the order of their file, each with the field that it asks about."""
    content = _file("aspects")
    subjects = content.pop("subjects")
    return tuple(dict.fromkeys(_about(content, subjects)))


@cache
def moves() -> tuple[tuple[str, str], ...]:
    """Return texts in the order of their file, each with how it steers a talk."""
    content = _file("moves")
    subjects = {**_file("aspects")["subjects"], **content.pop("subjects")}
    return tuple(dict.fromkeys(_about(content, subjects)))


def _about(
    content: Mapping[str, Any], subjects: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Yield each text of ``content`` with some ``subjects`` of its language, and its name."""
    for name, languages in content.items():
        for language, texts in languages.items():
            of = subjects[language]
            for place, text in enumerate(texts):
                for step in range(_SUBJECTS_EACH):
                    yield text.replace("{s}", of[(place + 2 * step) % len(of)]), name


@cache
def cases() -> dict[str, str]:
    """Return the case of each message that asks nothing of an administration, by its text."""
    return {text: _CASES.get(topic, "off_topic") for topic, _, text in _texts("others")}


def exact(text: str) -> Exact | None:
    """Return what an example is with the same letters and digits as ``text``, None without one."""
    return _by_letters().get(_letters(text))


def crisis(added: Sequence[RiskExample] = ()) -> CrisisExamples:
    """Return the shipped examples, near misses and ordinary texts, in the order of their files, and
    then an administration's ``added`` ones.

    An added one with the text of a shipped one takes its place.
    """
    found = {text: (code, near) for text, code, near in shipped_crisis()}
    for each in added:
        in_danger = each.kind == "danger"
        found[each.text] = (each.flag if in_danger else "", not in_danger)
    return CrisisExamples(
        tuple(found),
        tuple(code for code, _ in found.values()),
        tuple(place for place, (_, near) in enumerate(found.values()) if near),
    )


@cache
def crisis_languages() -> frozenset[str]:
    """Return the languages that there are examples of danger in."""
    return frozenset(language for _, language, _ in _texts("crisis"))


@cache
def shipped_crisis() -> tuple[tuple[str, str, bool], ...]:
    """Return text, risk flag and whether it is a near miss, for each text of the files."""
    found = [(text, code, False) for code, _, text in _texts("crisis")]
    found += [(text, "", True) for _, _, text in _texts("near_misses")]
    found += [(text, "", False) for texts in _file("ordinary").values() for text in texts]
    # What people write on any day, so that trouble with an office is not taken for danger. The
    # short ones all: "no, not that one" by itself is like much that people in danger write.
    everyday = [each for each in messages() if each[1] is not Kind.THANKS_AND_MORE]
    short = (Kind.FOLLOW_UP, Kind.CORRECTION)
    found += [
        (text, "", False)
        for number, (text, kind) in enumerate(everyday)
        if kind in short or not number % _EVERY
    ]
    return tuple(found)


@cache
def _by_letters() -> dict[str, Exact]:
    found: dict[str, Exact] = {}
    for topic, language, text in _texts("others"):
        case = _CASES.get(topic, "off_topic")
        language = language if case in _IN_ONE_LANGUAGE else ""
        before = found.setdefault(_letters(text), Exact(case, language))
        if before.language != language:
            found[_letters(text)] = Exact(before.case, "")
    found.pop("", None)
    return found


def _letters(text: str) -> str:
    return _NO_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _texts(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield ``(topic, language, text)`` in the order of a file."""
    for topic, languages in _file(name).items():
        yield from ((topic, code, text) for code, texts in languages.items() for text in texts)


def _file(name: str) -> dict[str, Any]:
    path = Path(__file__).parent / f"{name}.yaml"
    # As safe as SafeLoader, and ten times as fast over this much.
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return content
