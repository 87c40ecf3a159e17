"""Risk phrases: deterministic flags that no model can take away.

The phrases stand in ``risk_phrases.yaml``, by flag and language; they are located like evidence, so
a flag always points at the citizen's own words. Who asks for a person is told by the form of what
they write (:func:`person_wanted`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

import yaml

from ieim.pipeline import evidence
from ieim.pipeline.evidence.folding import fold_cached, fold_quote
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.knowledge import Label, Release
from ieim.pipeline.message import closing
from ieim.pipeline.message.legible import legible

PERSON_WANTED = "person_wanted"

Source = Literal["rule", "meaning", "hint", "faint", "model", "unsure", "refusal"]

UNSURE: Final = 0.6
"""A model that is less sure of a flag is not sure: help lines are shown, and no answer waits."""

OF_MODEL: Final[frozenset[Source]] = frozenset({"model", "unsure"})
"""The sources of what a model has flagged."""

FAINTER: Final[Mapping[Source, Source]] = {"meaning": "hint", "hint": "faint"}
"""What a sign becomes where a model that read the message sees no danger."""

# Han has no spaces: a word may begin and end anywhere in it.
_BEFORE, _AFTER = r"(?<![^\W\u4e00-\u9fff])", r"(?![^\W\u4e00-\u9fff])"
_APOSTROPHES = str.maketrans("’‘´`", "''''")
_PART = re.compile(r"<(\w+)>")


class _Language(TypedDict):
    parts: dict[str, str]
    forms: list[str]
    ordinary: list[str]


class RiskDict(TypedDict):
    """A risk as JSON."""

    code: str
    start: int
    end: int
    source: Source


@dataclass(frozen=True, slots=True)
class Risk:
    """A flag and the words that raised it: half-open code point offsets into the text as sent.

    ``source`` is ``rule`` for a phrase of the screen, ``meaning`` where the message is like what
    people in danger write (:mod:`ieim.search.crisis`), ``hint`` where it is only somewhat like
    that, ``faint`` where a model that read it saw no danger, ``model`` for what classify added to
    them, be it in an answer that failed the gate, ``unsure`` where it was not sure of that,
    ``refusal`` where a model would not classify.
    """

    code: str
    start: int
    end: int
    source: Source = "rule"

    @property
    def weak(self) -> bool:
        """Whether it may well be a mistake: help lines are shown for it, and no answer waits."""
        return self.source in ("hint", "faint", "unsure", "refusal")

    def as_dict(self) -> RiskDict:
        """Return the risk as JSON."""
        return {
            "code": self.code,
            "start": self.start,
            "end": self.end,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Contact:
    """What somebody in danger has to see at once: whom to call, in words.

    ``language`` (ISO 639-1) is empty for that of the knowledge.
    """

    text: str
    language: str = ""


def find(text: str) -> list[Risk]:
    """Return the risk flags of a message, each once, at its first phrase in the text."""
    message = legible(text)
    return [
        replace(sign, start=message.starts[sign.start], end=message.ends[sign.end - 1])
        for sign in _in_words(message.text)
    ]


def _in_words(text: str) -> list[Risk]:
    first: dict[str, Risk] = {}
    folded = fold_cached(text).text
    for code, phrase, quickly in _folded():
        if quickly not in folded:  # most are not there, and this is the quickest way to know
            continue
        span = evidence.locate(text, phrase)
        if span is not None and (code not in first or span.start < first[code].start):
            first[code] = Risk(code, span.start, span.end)
    for code, start, end in _broken(text):
        if code not in first:
            first[code] = Risk(code, start, end)
    if position := person_wanted(text):
        first[PERSON_WANTED] = Risk(PERSON_WANTED, *position)
    return sorted(first.values(), key=lambda risk: (risk.start, risk.code))


def _broken(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the phrases that are there in a broken spelling, with their places."""
    for reading in closing.readings(text):
        for code, needle in _closed(reading.once):
            if needle in reading.text and (span := reading.find(needle)):
                yield code, *span


def holds(risks: Sequence[Risk], labels: Mapping[str, Label]) -> list[Finding]:
    """Return a finding for each flag whose label asks for a person.

    ``labels`` are the release's risk flags. A flag that they do not know holds as well: a phrase
    list that is ahead of the labels must not open a gap. A weak one holds nothing where it shows
    help lines (:func:`shown`): where it shows none, it is as any other. What a model was not sure
    of holds nothing.
    """
    sure = (sign for sign in risks if sign.source != "unsure")
    holding = (sign for sign in sure if sign.code not in labels or labels[sign.code].holds)
    weak = shown(risks, labels)
    return [
        Finding(Code.POLICY_RISK, "", f"The risk flag {risk.code} asks for a person.")
        for risk in holding
        if risk not in weak
    ]


def reread(risks: Sequence[Risk], output: Mapping[str, Any] | None, release: Release) -> list[Risk]:
    """Return the signs of the screen once a model has read the message too: ``output`` is what it
    said, of any contract, and says something of danger if that was classify.

    Where it saw no danger of any kind, nor in an answer that failed the gate, what the message is
    only like is a weak sign: its help lines are shown, a person looks at it, and no answer waits.
    For what is only somewhat like that the lines are shown and that is all. A phrase stays what it
    is.
    """
    if output is None or "risk_flags" not in output:
        return list(risks)
    labels = release.labels.get("risk_flags", {})
    flagged = [flag["label"] for flag in output["risk_flags"]]
    flagged += [sign.code for sign in risks if sign.source in OF_MODEL]
    if any(code in labels and labels[code].escalates for code in flagged):
        return list(risks)
    return [replace(risk, source=FAINTER.get(risk.source, risk.source)) for risk in risks]


def shown(risks: Sequence[Risk], labels: Mapping[str, Label]) -> list[Risk]:
    """Return the weak flags whose help lines are shown, and for which no answer waits."""
    speaking = {code for code, label in labels.items() if label.escalates and label.description}
    return [risk for risk in risks if risk.weak and risk.code in speaking]


def contacts(
    codes: Sequence[str], release: Release, languages: Sequence[str] = ()
) -> tuple[Contact, ...]:
    """Return what the citizen has to see at once: the help lines of each escalating flag.

    Those are the ones in each of ``languages``; where one has none, the label's description.
    """
    labels = release.labels.get("risk_flags", {})
    lines = {(line.flag, line.language): line.text for line in release.help_lines}
    escalating = (labels[code] for code in codes if code in labels and labels[code].escalates)
    return tuple(
        dict.fromkeys(
            Contact(lines[label.code, language], language)
            if (label.code, language) in lines
            else Contact(label.description)
            for label in escalating
            for language in (languages or [""])
        )
    )


@cache
def _folded() -> tuple[tuple[str, str, str], ...]:
    return tuple((code, phrase, fold_quote(phrase)) for code, phrase in _phrases())


@cache
def _closed(once: bool) -> tuple[tuple[str, str], ...]:
    needles = ((code, closing.needle(phrase, once=once)) for code, phrase in _phrases())
    return tuple((code, needle) for code, needle in needles if needle)


@cache
def _phrases() -> tuple[tuple[str, str], ...]:
    return tuple((code, phrase) for code, _, phrase in _listed())


def phrases(flags: Collection[str], languages: Collection[str]) -> list[tuple[str, str]]:
    """Return the phrases of ``flags`` in ``languages`` (ISO 639), each after its flag."""
    return [
        (code, phrase)
        for code, language, phrase in _listed()
        if code in flags and language in languages
    ]


@cache
def _listed() -> tuple[tuple[str, str, str], ...]:
    path = Path(__file__).parent / "risk_phrases.yaml"
    flags: dict[str, dict[str, list[str]]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        (code, language, phrase)
        for code, by_language in flags.items()
        for language, phrases in by_language.items()
        for phrase in phrases
    )


def person_wanted(text: str) -> tuple[int, int] | None:
    """Return where ``text`` first asks for a person, as half-open code points; None if nowhere.

    The forms stand in ``person_wanted.yaml``, by language: a verb of speaking, calling or looking
    at something, and a person in general. They are read without case and accents.
    """
    plain, at = closing.plain_letters(text.translate(_APOSTROPHES))
    places = []
    for forms, ordinary in _languages():
        spans = [match.span() for form in forms for match in form.finditer(plain)]
        if spans:
            excused = [match.span() for form in ordinary for match in form.finditer(plain)]
            places += [
                (start, end)
                for start, end in spans
                if not any(start < until and begin < end for begin, until in excused)
            ]
    if not places:
        return None
    start, end = min(places)
    return at[start], at[end - 1] + 1


@cache
def _languages() -> tuple[tuple[list[re.Pattern[str]], list[re.Pattern[str]]], ...]:
    path = Path(__file__).with_name("person_wanted.yaml")
    languages: dict[str, _Language] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        (
            [_compiled(form, language["parts"]) for form in language["forms"]],
            [_compiled(form, language["parts"]) for form in language["ordinary"]],
        )
        for language in languages.values()
    )


def _compiled(form: str, parts: dict[str, str]) -> re.Pattern[str]:
    while _PART.search(form):
        form = _PART.sub(lambda part: f"(?:{parts[part[1]]})", form)
    filler = parts["filler"].replace(" ", r"\s+")
    form = form.replace(" ?", r"\s*")
    spaced = form.replace(" ", rf"[\s,]++(?:(?:{filler})[\s,]++){{0,2}}")
    apart = unicodedata.normalize("NFD", spaced)
    marked = "".join(c for c in apart if unicodedata.category(c) != "Mn")
    return re.compile(rf"{_BEFORE}(?:{marked}){_AFTER}")
