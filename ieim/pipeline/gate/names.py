"""Names: which agencies and services of a release a text names (DESIGN "Grounding").

Whole words, whatever their case, and the longest match wins. A name of one word counts in its exact
case only, and a service's only beside its agency's name.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import Generic, NamedTuple, TypeVar

from ieim.pipeline.evidence.folding import fold_cached, fold_quote
from ieim.pipeline.facts.reading import MARKS, read
from ieim.pipeline.knowledge import Release

T = TypeVar("T")

_TOKEN = re.compile(rf"[\w{MARKS}]+|[^\w\s]")
_SHORT_FORM = re.compile(r"\s*\([^()]*\)\s*\Z")


@dataclass(frozen=True, slots=True)
class Name(Generic[T]):
    """A name at code points ``start`` to ``end``; any of ``bearers`` may be meant by it."""

    bearers: frozenset[T]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names, each from left to right: agencies by id, services by agency and key."""

    agencies: tuple[Name[str], ...]
    services: tuple[Name[tuple[str, str]], ...]


def per_release(build: Callable[[Release], T]) -> Callable[[Release], T]:
    """Keep what ``build`` makes of a release for as long as that release object lives.

    By identity, because a release holds mappings and has no hash.
    """
    kept: dict[int, T] = {}

    @wraps(build)
    def cached(release: Release) -> T:
        if id(release) not in kept:
            kept[id(release)] = build(release)
            weakref.finalize(release, kept.pop, id(release), None)
        return kept[id(release)]

    return cached


def named(text: str, release: Release) -> Named:
    """Return the agencies and services of ``release`` that ``text`` names.

    A name that is both an agency's and a service's counts as the agency's, and the service's own
    agency is then among its bearers.
    """
    found = list(_matches(text, _index(release)))
    plain = _longest(match for match in found if not match.needs_agency)
    ids = {agency for match in plain for agency in match.bearers.agencies}
    kept = _longest(
        match
        for match in found
        if not match.needs_agency or any(agency in ids for agency, _ in match.bearers.services)
    )
    agencies, services = [], []
    for match in kept:
        bearers = match.bearers
        if bearers.agencies:
            either = bearers.agencies | {agency for agency, _ in bearers.services}
            agencies.append(Name(frozenset(either), match.start, match.end))
        else:
            services.append(Name(frozenset(bearers.services), match.start, match.end))
    return Named(tuple(agencies), tuple(services))


@dataclass(slots=True)
class _Bearers:
    """Who bears a name."""

    agencies: set[str] = field(default_factory=set)
    services: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Index:
    """Names by their tokens. ``sizes`` says how long the names are that begin with a token."""

    phrases: dict[tuple[str, ...], _Bearers] = field(default_factory=dict)
    words: dict[str, _Bearers] = field(default_factory=dict)
    sizes: dict[str, set[int]] = field(default_factory=dict)


class _Match(NamedTuple):
    start: int
    end: int
    bearers: _Bearers
    needs_agency: bool


@per_release
def _index(release: Release) -> _Index:
    index = _Index()
    # What has a name in the citizen's language may still be called by its first one.
    for each in filter(None, (release, release.original)):
        for agency in each.agencies.values():
            # "Department of Labor (DOL)" is also named without its short form.
            for name in {agency.name, _SHORT_FORM.sub("", agency.name)}:
                if bearers := _entry(index, name):
                    bearers.agencies.add(agency.id)
        for service in each.services.values():
            if bearers := _entry(index, service.name):
                bearers.services.add((service.agency, service.key))
    return index


def _entry(index: _Index, name: str) -> _Bearers | None:
    folded = fold_quote(name)
    tokens = tuple(_TOKEN.findall(folded))
    if not any(character.isalnum() for character in folded):
        return None
    index.sizes.setdefault(tokens[0], set()).add(len(tokens))
    if " " in folded:
        return index.phrases.setdefault(tokens, _Bearers())
    return index.words.setdefault(read(name).text.strip(), _Bearers())


def _matches(text: str, index: _Index) -> Iterator[_Match]:
    folded = fold_cached(text)
    tokens = list(_TOKEN.finditer(folded.text))
    words = [token[0] for token in tokens]
    for at, word in enumerate(words):
        for size in index.sizes.get(word, ()):
            if at + size > len(words):
                continue
            start = folded.starts[tokens[at].start()]
            end = folded.ends[tokens[at + size - 1].end() - 1]
            if start < 0 or end < 0:
                continue  # it would cut a character
            if phrase := index.phrases.get(tuple(words[at : at + size])):
                yield _Match(start, end, phrase, needs_agency=False)
            if one := index.words.get(read(text[start:end]).text):
                yield _Match(start, end, one, needs_agency=not one.agencies)


def _longest(matches: Iterable[_Match]) -> list[_Match]:
    """Leave out every match that stands inside a longer one."""
    kept: list[_Match] = []
    reach = -1
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if match.end > reach or (kept and kept[-1][:2] == match[:2]):
            kept.append(match)
            reach = match.end
    return kept
