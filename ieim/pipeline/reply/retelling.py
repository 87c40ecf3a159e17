"""Retelling: what a citizen reads over several agencies in place of a model's own words.

The passages of the cited entries that the model's text was made from, in its order and with its
words of order, under the name of each agency. Nothing else is shown but what to do first, where
the text says nothing that can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from ieim.pipeline import quoting
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.quoting import Passage, Segment
from ieim.pipeline.reply.cards import HEADS, lead
from ieim.pipeline.reply.plain_text import plain

MOST: Final = 12
"""Passages of one entry at most, beside those of which they speak: its card has the rest."""

_ENDS = (".", "!", "?", "…", "。", "！", "？", "؟")
_NOT_SHOWN = frozenset({"name", "agency"})
_LISTS = frozenset({"step", "requirement"})
_FIELDS: Mapping[str, str] = {
    "about": "applicability_summary",
    "requirement": "requirements",
    "time": "processing_time",
    "step": "how_to_apply",
}
"""The field of a service from which a kind of passage is, where it has another name."""
_FOLLOWING = frozenset({"then", "after", "before", "last"})
"""Words of order that say nothing where nothing stands before them."""


@dataclass(frozen=True, slots=True)
class RetoldPassage:
    """A passage that is shown: the ``field`` of a service, for a part of the model's text
    (``start`` to ``end``, half-open code points)."""

    start: int
    end: int
    agency_id: str
    service_key: str
    field: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values, without anybody's words."""
        return {name: getattr(self, name) for name in self.__slots__}


class Retelling(NamedTuple):
    """What is shown in place of a model's text, and what stands for what in it."""

    text: str
    passages: tuple[RetoldPassage, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values; :meth:`from_dict` takes them back."""
        return {"text": self.text, "passages": [each.as_dict() for each in self.passages]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Retelling:
        """Return the retelling of :meth:`as_dict`'s values, which are taken to be right."""
        return cls(data["text"], tuple(RetoldPassage(**each) for each in data["passages"]))


def retell(text: str, cited: Sequence[Service], release: Release) -> Retelling:
    """Return what is shown of ``text``: a paragraph for each agency, in its order, with its name.

    Where several services of one agency are told of, each has a paragraph below that name. A
    passage that the gate would not let through by itself is left out, and so is one that speaks of
    what is not shown. ``release`` is in the language of the citizen as far as it is. Without text
    where nothing can be shown.
    """
    lines = _Lines(cited, release)
    counts: Counter[int] = Counter()
    for quote in quoting.quotes(text, lines.entries, language=release.language):
        if counts[quote.entry] < MOST:
            counts[quote.entry] += lines.put(quote.entry, quote.at, quote.segment)
    return Retelling("\n\n".join(lines.paragraphs()), tuple(lines.retold()))


def first_steps(cited: Iterable[Service], release: Release) -> str:
    """Return a paragraph for each agency: what to do first at each of its ``cited`` services."""
    services = list(dict.fromkeys(cited))
    by_agency: dict[str, list[tuple[Service, str]]] = {}
    for service in services:
        by_agency.setdefault(service.agency, []).append((service, _first(service, release)))
    return "\n\n".join(_paragraph(each, release, len(each) > 1) for each in by_agency.values())


def _first(service: Service, release: Release) -> str:
    first = lead(service)
    fits = first and len(first) <= quoting.LONGEST and _grounded(first, service, release)
    return first if fits else service.name


def _paragraph(texts: Sequence[tuple[Service, str]], release: Release, several: bool) -> str:
    agency = release.agencies[texts[0][0].agency].name
    if not several:
        return f"{agency}: {' '.join(words for _, words in texts)}"
    return "\n\n".join([f"{agency}:", *(f"{service.name}: {words}" for service, words in texts)])


@dataclass(slots=True)
class _Line:
    """A passage that is shown, with the part of the text that it stands for."""

    entry: int
    at: int
    segment: Segment
    cue: str


class _Lines:
    """What is shown of a text, as it grows."""

    def __init__(self, cited: Iterable[Service], release: Release) -> None:
        self.services = list(dict.fromkeys(cited))
        self.release = release
        self.entries = [
            quoting.of_service(each, release.agencies.get(each.agency)) for each in self.services
        ]
        self.passages = [quoting.passages(entry) for entry in self.entries]
        self.lines: list[_Line] = []

    def put(self, entry: int, at: int, segment: Segment) -> bool:
        """Show a passage, after the one that it speaks of where it does; False where that cannot
        be shown."""
        if self._place(entry, at) is not None:
            return True
        passage = self.passages[entry][at]
        before = self._before(entry, at)
        if before is None or not self._may_stand(entry, passage):
            return False
        line = _Line(entry, at, segment, "")
        if before == at:
            self.lines.append(line)
        elif self.put(entry, before, segment):
            self.lines.insert((self._place(entry, before) or 0) + 1, line)
        else:
            return False
        self._mark(segment)
        return True

    def _mark(self, segment: Segment) -> None:
        """Give the first passage of a part of the text its word of order."""
        of_part = [line for line in self.lines if line.segment == segment]
        for each in of_part:
            each.cue = ""
        of_part[0].cue = segment.cue

    def _place(self, entry: int, at: int) -> int | None:
        places = (i for i, each in enumerate(self.lines) if (each.entry, each.at) == (entry, at))
        return next(places, None)

    def _before(self, entry: int, at: int) -> int | None:
        """Return the place of the passage of which one speaks: its own where it speaks of none,
        None where that is not there."""
        passage = self.passages[entry][at]
        leaning = self._leaning(passage.text)
        if not leaning:
            return at
        if not passage.begins:
            return at - 1
        if leaning == "inside":
            return at  # of something in the same sentence
        listed = passage.kind in _LISTS and at > 0
        return at - 1 if listed and self.passages[entry][at - 1].kind == passage.kind else None

    def _leaning(self, text: str) -> str:
        """Return how a passage speaks of what stands before it, in its own language and in that of
        the release: a part may not be translated."""
        languages = dict.fromkeys([self.release.language, quoting.language_of(text)])
        found = [quoting.leans(text, code) for code in languages if code]
        return "opens" if "opens" in found else next(filter(None, found), "")

    def _may_stand(self, entry: int, passage: Passage) -> bool:
        """Whether a passage passes the gate, and is none of what stands there anyway: names, and
        where it all comes from."""
        service, release = self.services[entry], self.release
        addresses = (service.url, service.path, release.agencies[service.agency].path)
        if passage.kind in _NOT_SHOWN or passage.text in addresses:
            return False
        return self._is_translated(service, passage) and _grounded(passage.text, service, release)

    def _is_translated(self, service: Service, passage: Passage) -> bool:
        """Whether a passage is in the language of the release, or has no words: a text in another
        was not made from it, whatever the two have in common."""
        if not self.release.language or not any(map(str.islower, passage.text)):
            return True
        translated = self.release.translated.get((service.agency, service.key), frozenset())
        return _FIELDS.get(passage.kind, passage.kind) in translated

    def paragraphs(self) -> Iterator[str]:
        """Yield a paragraph for each agency, and one more where the text comes back to it."""
        entries: dict[str, set[int]] = {}
        for line in self.lines:
            entries.setdefault(self._agency(line), set()).add(line.entry)
        for agency, run in groupby(self.lines, key=self._agency):
            services = [
                (self.services[entry], " ".join(self._words(list(lines))))
                for entry, lines in groupby(run, key=lambda line: line.entry)
            ]
            yield _paragraph(services, self.release, len(entries[agency]) > 1)

    def _agency(self, line: _Line) -> str:
        return self.services[line.entry].agency

    def _words(self, lines: Sequence[_Line]) -> Iterator[str]:
        """Yield the passages, those of one field together under its head, with words of order."""
        texts = [(self.passages[line.entry][line.at], line.cue) for line in lines]
        written = quoting.language_of(" ".join(passage.text for passage, _ in texts))
        language = self.release.language or written
        heads = HEADS.get(language, {})
        before = ""
        for (passage, cue), line in zip(texts, lines, strict=True):
            head = heads.get(passage.kind, "") if cue or passage.kind != before else ""
            order = quoting.order_word(cue, language) if cue else ""
            if cue in _FOLLOWING and line is self.lines[0]:
                order = ""
            if order and passage.text.casefold().startswith(order.casefold()):
                order = ""
            yield ": ".join(filter(None, (order, head, _ended(plain(passage.text)))))
            before = passage.kind

    def retold(self) -> Iterator[RetoldPassage]:
        """Yield what stands for what."""
        for line in self.lines:
            service, kind = self.services[line.entry], self.passages[line.entry][line.at].kind
            yield RetoldPassage(
                line.segment.start,
                line.segment.end,
                service.agency,
                service.key,
                _FIELDS.get(kind, kind),
            )


def _grounded(text: str, service: Service, release: Release) -> bool:
    return not grounding.check(text, [service], release)


def _ended(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."
