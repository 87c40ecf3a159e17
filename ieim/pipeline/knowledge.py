"""The values of a knowledge release: what a stage may choose from and a reply may say.

A :class:`Release` is immutable and knows nothing of where it came from (a database, a bundle on
disk). Ids and keys are compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, TypeVar

LABEL_SETS: tuple[str, ...] = (
    "intents",
    "product_lines",
    "urgencies",
    "risk_flags",
    "entity_types",
    "key_types",
)

CASES: tuple[str, ...] = (
    "greeting",
    "thanks",
    "off_topic",
    "unclear",
    "abuse",
    "about_assistant",
    "about_office",
)
"""What a message may be that asks nothing of an administration."""

CIRCUMSTANCES: tuple[str, ...] = ("condolence", "worry")
"""In which somebody may write: after a death; in danger, or with somebody ill. A sentence of the
administration's comes first then."""

NO_NEXT = "-"
"""What :attr:`Service.next_services` has alone where no service comes next."""


@dataclass(frozen=True, slots=True)
class Agency:
    """One public body. ``places`` and ``hours`` are read by :mod:`ieim.pipeline.structured`."""

    id: str
    name: str
    path: str = ""
    description: str = ""
    places: tuple[str, ...] = ()
    hours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Category:
    """One entry of an agency's dictionary."""

    agency: str
    key: str
    value: str
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """One entry of the service index. ``categories`` are keys of the same agency's dictionary.

    ``next_services`` are the references of what comes next, where somebody wrote them: else the
    search finds them; :data:`NO_NEXT` alone is none. ``deadline_days`` are digits: the days from
    the event in which the service has to be asked for; empty where nothing presses. ``read_on`` is
    the day (ISO 8601) on which the page at ``url`` was read, where the entry says what it says.
    What :mod:`ieim.pipeline.structured` reads stands last: ``places`` and ``hours`` only where they
    are not the agency's.
    """

    agency: str
    key: str
    name: str
    path: str = ""
    overview: str = ""
    applicability_summary: str = ""
    categories: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    fees: str = ""
    processing_time: str = ""
    how_to_apply: tuple[str, ...] = ()
    contact: str = ""
    url: str = ""
    next_services: tuple[str, ...] = ()
    deadline_days: str = ""
    read_on: str = ""
    amounts: tuple[str, ...] = ()
    processing_days: str = ""
    places: tuple[str, ...] = ()
    hours: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """What names the service in a release: ``agency/key``."""
        return f"{self.agency}/{self.key}"


@dataclass(frozen=True, slots=True)
class Translation:
    """The texts of an agency, a category, a service or a situation in ``language`` (ISO 639-1).

    ``category`` or ``service`` is a key within the agency; with neither it is the agency itself.
    Of a ``situation``, by its key, agency and both keys are empty; ``conditions`` are lines,
    ``agency/key | condition``, of its services. ``name`` is a category's ``value``. An empty text
    is not translated. ``stale`` are the fields whose original has changed since they were
    translated.
    """

    language: str
    agency: str = ""
    category: str = ""
    service: str = ""
    name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    overview: str = ""
    applicability_summary: str = ""
    requirements: tuple[str, ...] = ()
    fees: str = ""
    processing_time: str = ""
    how_to_apply: tuple[str, ...] = ()
    contact: str = ""
    situation: str = ""
    conditions: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def current(self) -> Translation:
        """The translation without its stale texts."""
        return replace(self, **{name: type(getattr(self, name))() for name in self.stale})


@dataclass(frozen=True, slots=True)
class Label:
    """One canonical code of a label set.

    ``threshold`` is the confidence below which the label is unsure to who reads it (None: never).
    ``effect`` is ``none``, ``hold`` or ``escalate`` for risk flags, target minutes as digits for
    urgencies, ``mask`` for entity types whose value is masked, and empty otherwise.
    """

    set: str
    code: str
    name: str
    description: str = ""
    threshold: Decimal | None = None
    effect: str = ""

    @property
    def holds(self) -> bool:
        """Whether a reply over a risk flag of this label waits for a person."""
        return self.effect in ("hold", "escalate")

    @property
    def is_masked(self) -> bool:
        """Whether a value of this entity type identifies somebody and has to be masked."""
        return self.effect == "mask"

    @property
    def escalates(self) -> bool:
        """Whether the flag is a crisis: its description is shown to the citizen at once."""
        return self.effect == "escalate"


@dataclass(frozen=True, slots=True)
class HelpLine:
    """The description of a risk flag that escalates, in one more ``language`` (ISO 639-1)."""

    language: str
    flag: str
    text: str


@dataclass(frozen=True, slots=True)
class RiskExample:
    """A text that teaches what a crisis is, beside those that are shipped.

    ``kind`` is ``danger`` for what somebody with that risk flag writes, ``near_miss`` for what only
    sounds like it.
    """

    language: str
    text: str
    flag: str
    kind: str


@dataclass(frozen=True, slots=True)
class CaseText:
    """What the administration says to a message of one of :data:`CASES`, or to somebody in one of
    :data:`CIRCUMSTANCES`, in ``language``."""

    case: str
    language: str
    text: str


QUESTION_ORIGINS: tuple[str, ...] = ("editor", "citizen", "model", "import")
"""Who wrote an example question; the first where nobody says."""


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question, in ``language`` (ISO 639-1), that the service with the key ``service`` answers.

    Or what somebody in the ``situation`` with that key says; agency and service are empty then.

    Only the ranking reads it: no stage is given one. ``origin`` is one of :data:`QUESTION_ORIGINS`.
    """

    agency: str
    service: str
    language: str
    text: str
    origin: str = "editor"
    situation: str = ""


SITUATION_KINDS: tuple[str, ...] = ("life", "business")
"""What a situation is: ``cv:LifeEvent`` and ``cv:BusinessEvent`` of CPSV-AP 3.2."""


_SITUATION: Final = "situation."


@dataclass(frozen=True, slots=True)
class Step:
    """A service that a situation leads to; ``condition`` says for whom, empty for everybody."""

    agency: str
    service: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """A life or business event, and the services that it leads to, in their order.

    ``kind`` is one of :data:`SITUATION_KINDS`.
    """

    key: str
    kind: str
    name: str
    description: str = ""
    steps: tuple[Step, ...] = ()

    @property
    def code(self) -> str:
        """What names it among the intents of a message, and among the options of a choice."""
        return f"{_SITUATION}{self.key}"


@dataclass(frozen=True, slots=True)
class Wording:
    """Puts structured values into words in each of ``languages`` (ISO 639-1).

    ``original`` is the one that the knowledge is written in. ``fill`` takes a service as it is in
    a language, its agency, that language and the fields that are translated into it; it returns the
    service with sentences where it has none, and the fields that are in the language then.
    """

    original: str
    languages: frozenset[str]
    fill: Callable[[Service, Agency, str, frozenset[str]], tuple[Service, frozenset[str]]]


SERVICE_TEXTS: tuple[str, ...] = (
    "name",
    "overview",
    "applicability_summary",
    "requirements",
    "fees",
    "processing_time",
    "how_to_apply",
    "contact",
)
"""The fields of a service that can be translated."""
_AGENCY_TEXTS = ("name", "description")


@dataclass(frozen=True)
class Release:
    """An immutable snapshot of knowledge; ``sha256`` is lower-case hex over its canonical JSON.

    A view of it in another language has the same number and digest, and the same ids and keys: only
    its texts differ. ``language`` is then that language (ISO 639-1), ``original`` the release as it
    was written, and ``translated`` the fields of each service that are in ``language``; what is not
    translated is as it was written. With a ``wording`` that the release has where entries have
    structured values, there is a view in the language of the knowledge too.
    """

    number: int
    sha256: str
    agencies: Mapping[str, Agency]
    categories: Mapping[tuple[str, str], Category]
    services: Mapping[tuple[str, str], Service]
    labels: Mapping[str, Mapping[str, Label]] = field(default_factory=dict)
    translations: tuple[Translation, ...] = ()
    help_lines: tuple[HelpLine, ...] = ()
    risk_examples: tuple[RiskExample, ...] = ()
    texts: tuple[CaseText, ...] = ()
    questions: tuple[ExampleQuestion, ...] = ()
    situations: Mapping[str, Situation] = field(default_factory=dict)
    language: str = ""
    original: Release | None = field(default=None, repr=False, compare=False)
    wording: Wording | None = field(default=None, repr=False, compare=False)
    translated: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def situation(self, code: str) -> Situation | None:
        """Return the situation that has this :attr:`Situation.code`; None for any other code."""
        if not code.startswith(_SITUATION):
            return None
        return self.situations.get(code.removeprefix(_SITUATION))

    def steps(self, situation: Situation) -> tuple[tuple[str, str], ...]:
        """Return agency and key of the services that a situation leads to, in their order."""
        keys = ((step.agency, step.service) for step in situation.steps)
        return tuple(key for key in keys if key in self.services)

    def first_steps(self, situation: Situation) -> tuple[tuple[str, str], ...]:
        """Return those up to the first one that everybody needs: one of them comes first."""
        for index, step in enumerate(situation.steps):
            if not step.condition and (step.agency, step.service) in self.services:
                return self.steps(replace(situation, steps=situation.steps[: index + 1]))
        return self.steps(situation)

    @property
    def label_codes(self) -> dict[str, frozenset[str]]:
        """The codes of the labels, by set."""
        return {name: frozenset(codes) for name, codes in self.labels.items()}

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages that something is translated into."""
        return frozenset(translation.language for translation in self.translations)

    def in_language(self, code: str, *, omit_stale: bool = False) -> Release:
        """Return the release with the texts that there are in ``code``, one object a language.

        Where there is none at all, that is the release as it was written, or as its wording puts
        structured values in the language of the knowledge. A stale text is as it
        was written; with ``omit_stale`` it is left out, names excepted.
        """
        written = self.original or self
        wording = written.wording
        if wording and code not in written.languages | wording.languages:
            code = wording.original
        elif not wording and code not in written.languages:
            return written
        views, key = written._views, (code, omit_stale)
        # Two threads may both make one: the first that is done is the one that everybody gets.
        return views.get(key) or views.setdefault(key, _view(written, code, omit_stale))

    @cached_property
    def _views(self) -> dict[tuple[str, bool], Release]:
        return {}

    @cached_property
    def services_by_agency(self) -> Mapping[str, tuple[Service, ...]]:
        """Services of each agency, in index order."""
        grouped: dict[str, list[Service]] = {agency: [] for agency in self.agencies}
        for service in self.services.values():
            grouped.setdefault(service.agency, []).append(service)
        return {agency: tuple(services) for agency, services in grouped.items()}

    @cached_property
    def categories_by_agency(self) -> Mapping[str, tuple[Category, ...]]:
        """Dictionary entries of each agency, in dictionary order."""
        grouped: dict[str, list[Category]] = {agency: [] for agency in self.agencies}
        for category in self.categories.values():
            grouped.setdefault(category.agency, []).append(category)
        return {agency: tuple(entries) for agency, entries in grouped.items()}

    @cached_property
    def urls(self) -> frozenset[str]:
        """Every URL that a reply may link to; a path may be plain words, which are none."""
        urls = {service.url for service in self.services.values()}
        urls |= {service.path for service in self.services.values()}
        urls |= {agency.path for agency in self.agencies.values()}
        return frozenset(u for u in urls if u.lower().startswith(("http://", "https://")))


Entry = TypeVar("Entry", Agency, Service, Situation)


def _view(written: Release, code: str, omit_stale: bool) -> Release:
    translations = {
        (translation.agency, translation.category, translation.service): translation
        for translation in written.translations
        if translation.language == code and not translation.situation
    }
    situations = {
        words.situation: words
        for words in written.translations
        if words.language == code and words.situation
    }
    translated = {
        (agency, service): frozenset(_texts(entry.current, SERVICE_TEXTS))
        for (agency, _, service), entry in translations.items()
        if service
    }
    agencies = {
        id_: _in_words_of(agency, translations.get((id_, "", "")), _AGENCY_TEXTS, omit_stale)
        for id_, agency in written.agencies.items()
    }
    services = {
        (agency, key): _in_words_of(
            service, translations.get((agency, "", key)), SERVICE_TEXTS, omit_stale
        )
        for (agency, key), service in written.services.items()
    }
    if written.wording:
        for key, service in services.items():
            services[key], translated[key] = written.wording.fill(
                service, agencies[service.agency], code, translated.get(key, frozenset())
            )
    return replace(
        written,
        agencies=agencies,
        categories={
            (agency, key): _category(category, translations.get((agency, key, "")))
            for (agency, key), category in written.categories.items()
        },
        services=services,
        situations={
            key: _situation(situation, situations.get(key), omit_stale)
            for key, situation in written.situations.items()
        },
        language=code,
        original=written,
        translated=translated,
    )


def _in_words_of(
    entry: Entry, words: Translation | None, fields: tuple[str, ...], omit_stale: bool
) -> Entry:
    if words is None:
        return entry
    texts = _texts(words.current, fields)
    if omit_stale:
        omitted = (name for name in words.stale if name in fields and name != "name")
        texts |= {name: type(getattr(entry, name))() for name in omitted}
    return replace(entry, **texts)


def _category(category: Category, words: Translation | None) -> Category:
    if words is None:
        return category
    # Keywords only help to find: people mix languages, and what is not translated has its own.
    keywords = dict.fromkeys((*words.keywords, *category.keywords))
    value = _texts(words.current, ("name",)).get("name", category.value)
    return replace(category, value=value, keywords=tuple(keywords))


def _situation(situation: Situation, words: Translation | None, omit_stale: bool) -> Situation:
    if words is None:
        return situation
    # The original of a stale condition stays: without one a step would be everybody's.
    lines = (line.partition("|") for line in words.current.conditions)
    conditions = {reference.strip(): condition.strip() for reference, _, condition in lines}
    steps = tuple(
        replace(step, condition=conditions.get(f"{step.agency}/{step.service}") or step.condition)
        for step in situation.steps
    )
    texts = ("name", "description")
    return replace(_in_words_of(situation, words, texts, omit_stale), steps=steps)


def _texts(words: Translation, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the texts of a translation that are not blank."""
    texts = {name: getattr(words, name) for name in fields}
    return {name: text for name, text in texts.items() if "".join(text).strip()}
