"""Grounding: whether what a reply states and names is covered by its sources.

A fact is covered when a cited service or its agency gives it in any of its fields. Nothing is
covered by the release at large: a right fee of the wrong service is wrong.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from ieim.pipeline.evidence import is_trivial
from ieim.pipeline.evidence.folding import fold_cached, fold_quote
from ieim.pipeline.facts import Fact, Kind, facts, matches, money, url_value
from ieim.pipeline.facts.reading import MARKS, read
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.knowledge import SERVICE_TEXTS, Agency, Release, Service
from ieim.pipeline.personal.redaction import PLACEHOLDER
from ieim.pipeline.reply.plain_text import paragraphs

T = TypeVar("T")

REPLY, SOURCES = "/assistantReply", "/sourcesUsed"
"""Where multi_agency_service_answer_v1 has what is checked here."""

EXCERPT = 80
"""How much of an offending text a message shows, in characters."""

_KINDS: dict[Kind, str] = {
    "url": "a web address",
    "email": "an e-mail address",
    "money": "an amount of money",
    "date": "a date",
    "phone": "a telephone number",
    "percent": "a percentage",
}
_TOKEN = re.compile(rf"[\w{MARKS}]+|[^\w\s]")
_WORD = re.compile(rf"(?:[^\W\d_][{MARKS}]*)+")
_SHORT_FORM = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+\Z")
_SHORT_NUMBER = re.compile(r"(?<!\d)\d{3,6}(?!\d)")


def per_release(build: Callable[[Release], T]) -> Callable[[Release], T]:
    """Cache the result of ``build`` for as long as the release object lives.

    By identity, because a release holds mappings and has no hash.
    """
    values: dict[int, T] = {}

    @wraps(build)
    def cached(release: Release) -> T:
        if id(release) not in values:
            values[id(release)] = build(release)
            weakref.finalize(release, values.pop, id(release), None)
        return values[id(release)]

    return cached


def check(
    reply: str, cited: Sequence[Service], release: Release, *, texts: Sequence[str] = ()
) -> list[Finding]:
    """Return what is wrong with the reply of a turn whose sources are ``cited``.

    ``texts`` are the administration's and count as sources as well: the help lines of a crisis.

    ``reply.empty`` when it has no letter or digit; ``sources.missing`` when nothing is cited (at
    the list of sources), or an agency or service is named that is not, and not by what is cited
    either; ``reply.ungrounded`` for every fact that no cited service, nor its agency, gives.
    """
    findings: list[Finding] = []
    if not any(character.isalnum() for character in reply):
        findings.append(Finding(Code.REPLY_EMPTY, REPLY, "The reply has no words."))
    if cited or texts:
        findings += _uncited_names(reply, cited, release)
    else:
        findings.append(Finding(Code.SOURCES_MISSING, SOURCES, "The reply cites no source."))
    if PLACEHOLDER.search(reply):
        message = "The reply has a placeholder in it that stands for personal data."
        findings.append(Finding(Code.REPLY_UNGROUNDED, REPLY, message))
    return findings + ungrounded(reply, texts, release, cited)


def ungrounded(
    reply: str, texts: Iterable[str], release: Release, cited: Iterable[Service] = ()
) -> list[Finding]:
    """Return ``reply.ungrounded`` for every fact that no text and no cited service gives."""
    return [
        Finding(
            Code.REPLY_UNGROUNDED,
            REPLY,
            f"The reply states what no cited source gives, {description}.",
        )
        for _, description in unpublished(reply, texts, release, cited)
    ]


def unpublished(
    reply: str, texts: Iterable[str], release: Release, cited: Iterable[Service]
) -> Iterator[tuple[Fact, str]]:
    """Yield every fact that no text and no cited service gives, with words for what it is."""
    currencies = currencies_of(release)
    stated = list(_stated(reply, currencies))
    if not stated:
        return
    published = _release_facts(cited, release, currencies)
    for text in texts:
        published += _contact_facts(text, currencies)
    values = {(fact.kind, fact.value) for fact in published}
    for fact, description in stated:
        if (fact.kind, fact.value) not in values and not matches(fact, published):
            yield fact, description


def says_anything(reply: str, cited: Sequence[Service], release: Release) -> bool:
    """Whether a reply names what it cites, or has two words in common with its texts, beside those
    that say nothing."""
    names = named(reply, release)
    if names.agencies or names.services:
        return True
    words = {word for text in _texts(cited, release) for word in _words(text)}
    shared = (word for word in words & _words(reply) if not is_trivial(word))
    return len(list(islice(shared, LEAST_WORDS))) == LEAST_WORDS


LEAST_WORDS = 2


def _words(text: str) -> set[str]:
    return set(_WORD.findall(fold_quote(text)))


def _views(reply: str) -> Iterator[tuple[str, str]]:
    """Yield the reply as it was written and, when it differs, as the citizen is shown it.

    Both, because Markdown can hide a name or a fact from the one ("**City** Hall") and the address
    of a link from the other. The second item follows offsets in messages.
    """
    yield reply, ""
    reply_text = "\n\n".join(paragraphs(reply))
    if reply_text != reply.strip():
        yield reply_text, " as shown"


def _stated(reply: str, currencies: frozenset[str]) -> Iterator[tuple[Fact, str]]:
    """Yield every fact of a reply, with words for what it is and where it stands."""
    written: set[tuple[Kind, str]] = set()
    for view, where in _views(reply):
        stated_facts = facts(view, currencies=currencies)
        for fact in stated_facts:
            if (fact.kind, fact.value) not in written:
                position = f"(characters {fact.start} to {fact.end}{where})"
                yield fact, f"{_KINDS[fact.kind]}: {_excerpt(fact.text)} {position}"
        written = {(fact.kind, fact.value) for fact in stated_facts}


def _texts(cited: Iterable[Service], release: Release) -> Iterator[str]:
    """Yield what each cited service and its agency say, in each language that they are in."""
    for version in filter(None, (release, release.original)):
        for service in cited:
            written = version.services.get((service.agency, service.key), service)
            for name in SERVICE_TEXTS:
                value = getattr(written, name)
                yield from [value] if isinstance(value, str) else value
            yield from (written.url, written.path)
            if agency := version.agencies.get(service.agency):
                yield from (agency.name, agency.description, agency.path)


def _uncited_names(reply: str, cited: Sequence[Service], release: Release) -> Iterator[Finding]:
    """Yield a finding, at the first place, for each name that no cited service bears or has in its
    texts."""
    agencies = {service.agency for service in cited}
    services = {(service.agency, service.key) for service in cited}
    messages: dict[object, str] = {}
    for view, where in _views(reply):
        names = named(view, release)
        for bearers, message in (
            *_uncited("agency", names.agencies, agencies, view, where),
            *_uncited("service", names.services, services, view, where),
        ):
            messages.setdefault(bearers, message)
    if messages:
        theirs = named("\n".join(_texts(cited, release)), release)
        for bearers in (
            *(n.bearers for n in theirs.agencies),
            *(n.bearers for n in theirs.services),
        ):
            messages.pop(bearers, None)
    for message in messages.values():
        yield Finding(Code.SOURCES_MISSING, REPLY, message)


def _uncited(
    kind: str, names: Iterable[Name[T]], cited: Set[T], view: str, where: str
) -> Iterator[tuple[frozenset[T], str]]:
    for name in names:
        if not name.bearers & cited:
            excerpt = _excerpt(view[name.start : name.end])
            yield (
                name.bearers,
                f"The reply names the {kind} {excerpt} (characters {name.start} to {name.end}"
                f"{where}) without citing it.",
            )


def _release_facts(
    cited: Iterable[Service], release: Release, currencies: frozenset[str]
) -> list[Fact]:
    published: list[Fact] = []
    for service in cited:
        published += _service_facts(service, currencies)
        if agency := release.agencies.get(service.agency):
            published += _agency_facts(agency, currencies)
    return published


@lru_cache(maxsize=1024)
def _service_facts(service: Service, currencies: frozenset[str]) -> tuple[Fact, ...]:
    texts = (
        service.name,
        service.overview,
        service.applicability_summary,
        *service.requirements,
        service.processing_time,
        *service.how_to_apply,
    )
    return (
        *_text_facts(texts, currencies),
        *_fee_facts(service.fees, currencies),
        *_text_facts((*service.amounts, *service.places, *service.hours), currencies),
        *_contact_facts(service.contact, currencies),
        *_addresses(service.url, service.path),
    )


@lru_cache(maxsize=1024)
def _agency_facts(agency: Agency, currencies: frozenset[str]) -> tuple[Fact, ...]:
    return (
        *_text_facts((agency.name, agency.description, *agency.places, *agency.hours), currencies),
        *_addresses(agency.path),
    )


def _text_facts(texts: Iterable[str], currencies: frozenset[str]) -> Iterator[Fact]:
    for text in texts:
        yield from facts(text, currencies=currencies)


def _fee_facts(fees: str, currencies: frozenset[str]) -> Iterator[Fact]:
    """Yield the facts of a fees field; where it names no currency every number is an amount."""
    fee_facts = facts(fees, currencies=currencies)
    yield from fee_facts
    if all(fact.kind != "money" or fact.value.startswith(money.UNSAID) for fact in fee_facts):
        for value in money.amounts(read(fees).text):
            yield Fact("money", 0, len(fees), fees, value)


def _contact_facts(contact: str, currencies: frozenset[str]) -> Iterator[Fact]:
    """Yield the facts of a contact field, where a short number need not be called one."""
    contact_facts = facts(contact, currencies=currencies)
    yield from contact_facts
    for match in _SHORT_NUMBER.finditer(contact):
        if not any(fact.start < match.end() and match.start() < fact.end for fact in contact_facts):
            yield Fact("phone", match.start(), match.end(), match[0], match[0])


def _addresses(*texts: str) -> Iterator[Fact]:
    """Yield the URL that each text is, and what it holds when it is no URL but words with one."""
    for text in filter(None, texts):
        yield Fact("url", 0, len(text), text, url_value(text))
        yield from facts(text)


@per_release
def currencies_of(release: Release) -> frozenset[str]:
    """Return the currency codes that the release's own fees use, listed by ISO 4217 or not."""
    return frozenset(
        code
        for service in release.services.values()
        for text in (service.fees, *service.amounts)
        for code in money.codes(text)
    )


def _excerpt(text: str) -> str:
    """Return the beginning of ``text`` in quotation marks, with nothing that cannot be shown."""
    return repr(text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…")


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


def named(text: str, release: Release) -> Named:
    """Return the agencies and services of ``release`` that ``text`` names.

    A name that is both an agency's and a service's counts as the agency's, and the service's own
    agency is then among its bearers.
    """
    matches = list(_matches(text, _index(release)))
    plain = _longest(match for match in matches if not match.needs_agency)
    ids = {agency for match in plain for agency in match.bearers.agencies}
    matches_left = _longest(
        match
        for match in matches
        if not match.needs_agency or any(agency in ids for agency, _ in match.bearers.services)
    )
    agencies, services = [], []
    for match in matches_left:
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


class _Index(NamedTuple):
    """Names by their tokens, those of one word as they are written; ``sizes`` says how long the
    names are that begin with a token."""

    phrases: dict[tuple[str, ...], _Bearers]
    words: dict[str, _Bearers]
    sizes: dict[str, set[int]]


class _Match(NamedTuple):
    start: int
    end: int
    bearers: _Bearers
    needs_agency: bool


@per_release
def _index(release: Release) -> _Index:
    index = _Index({}, {}, {})
    # What has a name in the citizen's language may still be called by its first one.
    for version in filter(None, (release, release.original)):
        for agency in version.agencies.values():
            # "Department of Labor (DOL)" is also named without its short form.
            for name in {agency.name, _SHORT_FORM.sub("", agency.name)}:
                if bearers := _entry(index, name):
                    bearers.agencies.add(agency.id)
        for service in version.services.values():
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
    """Leave out every match inside a longer one."""
    longest: list[_Match] = []
    reach = -1
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if match.end > reach or (longest and longest[-1][:2] == match[:2]):
            longest.append(match)
            reach = match.end
    return longest
