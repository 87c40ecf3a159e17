"""Checks of the knowledge that need no search; each yields remarks about entries."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html.entities import html5
from typing import Any, TypeAlias

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS, TRANSLATED, opens
from ieim.knowledge.bundles.questions import folded
from ieim.knowledge.bundles.references import References
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.knowledge.bundles.situations import parts
from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.canonical import dumps
from ieim.pipeline.facts import figures
from ieim.pipeline.knowledge import Agency, Service
from ieim.pipeline.ports import Ranked
from ieim.pipeline.reply import guidance
from ieim.pipeline.stages.slots import service_slot
from ieim.pipeline.work import Options

_SHOWN = 3
# A tag, a comment, or a character by its name or number. Which names there are is looked up.
_MARKUP = re.compile(
    r"</?([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|<!--|&(?:([a-z][a-z0-9]*;)|#[0-9]+;|#x[0-9a-f]+;)",
    re.IGNORECASE,
)
# The elements of the HTML standard, and those that it had: "<name>" and "<A38>" are none.
_NAMES = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink
blockquote body br button canvas caption center cite code col colgroup data datalist dd del
details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame
frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend
li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol
optgroup option output p param picture pre progress q rp rt ruby s samp script search section
select slot small source span strike strong style sub summary sup svg table tbody td template
textarea tfoot th thead time title tr track tt u ul var video wbr
"""
_ELEMENTS = frozenset(_NAMES.split())
_Text: TypeAlias = str | tuple[str, ...]


class Severity(StrEnum):
    """What a remark means for publishing."""

    ERROR = "error"
    """It cannot be proposed like this."""
    WARNING = "warning"
    """Worth a look; no reason to stop."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing about one entry. ``sentence`` says what it is and what to do.

    ``entry`` is the natural id as a person reads it, its parts joined by spaces; "" is about the
    whole. ``agency`` is the id of the agency whose editor can do something about it, "" for none.
    """

    code: str
    severity: Severity
    table: Table
    entry: str
    agency: str
    sentence: str

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Remark:
        return cls(**{**values, "severity": Severity(values["severity"])})


def warning(code: str, table: Table, row: Any, sentence: str) -> Remark:
    return _remark(code, Severity.WARNING, table, row, sentence)


def _remark(code: str, severity: Severity, table: Table, row: Any, sentence: str) -> Remark:
    entry = " ".join(filter(None, (getattr(row, name) for name in IDENTITY[table])))
    agency = row.id if table == "agencies" else getattr(row, "agency", "")
    return Remark(code, severity, table, entry, agency, sentence)


def few(names: Sequence[str]) -> str:
    """Return the first few of ``names``, and how many more there are."""
    suffix = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + suffix


def dangling_references(bundle: Bundle) -> Iterator[Remark]:
    """Yield an error for every agency, category, service, situation or flag that an entry names in
    vain."""
    references = References(
        agencies={agency.id for agency in bundle.agencies},
        categories={(entry.agency, entry.key) for entry in bundle.dictionary},
        services={(service.agency, service.key) for service in bundle.services},
        flags={label.code for label in bundle.labels if label.set == "risk_flags"},
        situations={situation.key for situation in bundle.situations},
    )
    for table in TABLES:
        for row in getattr(bundle, table):
            values = {column: getattr(row, column) for column in COLUMNS[table]}
            for _, text in references.dangling(values):
                sentence = f"{text[:1].upper()}{text[1:]}. Add it, or take it out here."
                yield _remark("reference.dangling", Severity.ERROR, table, row, sentence)


def golden_examples(bundle: Bundle, golden: Collection[str]) -> Iterator[Remark]:
    """Yield an error for every example question whose text is among ``golden``, folded texts."""
    for question in bundle.questions:
        if folded(question.text) in golden:
            sentence = (
                "It is a golden question too. Golden questions test what the search has learned "
                "from examples, so none can be both: take it out here, or remove the golden one."
            )
            yield _remark("question.golden", Severity.ERROR, "questions", question, sentence)


def situations(bundle: Bundle) -> Iterator[Remark]:
    """Yield situations without services, those without questions to be found by, and questions of
    situations whose text is one of a service too."""
    with_questions = {question.situation for question in bundle.questions}
    for situation in bundle.situations:
        if not situation.services:
            sentence = "No service is in it, so it leads nowhere: add what to do, in order."
            yield warning("situation.empty", "situations", situation, sentence)
        if situation.key not in with_questions:
            sentence = (
                "It has no example questions, and by them it is found: write five or more, as "
                "people say it."
            )
            yield warning("situation.unasked", "situations", situation, sentence)
    services = {folded(q.text): f"{q.agency} {q.service}" for q in bundle.questions if q.service}
    for question in bundle.questions:
        service = services.get(folded(question.text)) if question.situation else None
        if service is not None:
            sentence = (
                f"It is a question of the service {service} too, so it may lead to either: keep it "
                "where it fits best."
            )
            yield warning("question.shared", "questions", question, sentence)


def dead_ends(bundle: Bundle) -> Iterator[Remark]:
    """Yield services that no category reaches, those without an overview, and categories that lead
    to no service or have no words to be found by."""
    categories = {(entry.agency, entry.key) for entry in bundle.dictionary}
    used = set()
    for service in bundle.services:
        reaching = {(service.agency, key) for key in service.categories} & categories
        used |= reaching
        if not reaching:
            sentence = "No category reaches it: give it one of its agency's dictionary."
            yield warning("category.unreached", "services", service, sentence)
    for entry in bundle.dictionary:
        if (entry.agency, entry.key) not in used:
            sentence = "No service is in this category: put one in, or remove the category."
            yield warning("category.empty", "dictionary", entry, sentence)
        if not "".join((entry.value, *entry.keywords)).strip():
            sentence = "It has neither a value nor keywords: nobody's words lead to it. Add some."
            yield warning("category.wordless", "dictionary", entry, sentence)
    for service in bundle.services:
        if not service.overview.strip():
            sentence = "It has no overview: say in a few short sentences what it is."
            yield warning("overview.empty", "services", service, sentence)


def links(bundle: Bundle) -> Iterator[Remark]:
    """Yield links that do not open or are not encrypted, and those that several services have."""
    users: dict[tuple[str, str], list[Service]] = defaultdict(list)
    for agency in bundle.agencies:
        yield from _link_form("agencies", agency, agency.path)
    for service in bundle.services:
        for link in dict.fromkeys((service.url, service.path)):
            yield from _link_form("services", service, link)
        if service.url:
            users[service.agency, service.url].append(service)
    for (_, link), (first, *others) in users.items():
        if others:
            keys = few([service.key for service in others])
            sentence = (
                f"It has the same link as {keys}: {link[:200]}. If that page is not about each of "
                "them, give each its own."
            )
            yield warning("link.duplicate", "services", first, sentence)


def _link_form(table: Table, row: Agency | Service, link: str) -> Iterator[Remark]:
    lower = link.lower()
    if not lower.startswith(("http://", "https://")):
        return  # a path may be words
    if not opens(link):
        sentence = f"The link {link[:200]!r} does not open: write the whole address."
        yield warning("link.form", table, row, sentence)
    elif lower.startswith("http://"):
        sentence = f"The link {link[:200]} is not encrypted: use https:// if the site has it."
        yield warning("link.form", table, row, sentence)


def markup(bundle: Bundle) -> Iterator[Remark]:
    """Yield a warning for each text with HTML that somebody reads: it is shown as it was typed.

    Examples of risk flags and example questions are left out: no citizen reads them.
    """
    for table in TABLES:
        for row in getattr(bundle, table) if table not in ("risk_examples", "questions") else ():
            for column in COLUMNS[table]:
                if tags := _tags(getattr(row, column)):
                    name = HEADINGS.get(column, column.replace("_", " ").capitalize())
                    sentence = (
                        f"There is markup in “{name}” ({', '.join(tags[:_SHOWN])}). It is shown "
                        "as it was typed: write plain text."
                    )
                    yield warning("text.markup", table, row, sentence)


def _tags(value: object) -> list[str]:
    text = "\n".join(value) if isinstance(value, tuple) else value
    if not isinstance(text, str):
        return []
    matches = (match for match in _MARKUP.finditer(text) if _is_known(*match.groups()))
    return list(dict.fromkeys(match[0][:40] for match in matches))


def _is_known(element: str | None, character: str | None) -> bool:
    """Whether browsers know the name of an element or a character, where there is one."""
    return element.lower() in _ELEMENTS if element else not character or character in html5


def different_figures(bundle: Bundle) -> Iterator[Remark]:
    """Yield translations of agencies, services and situations that have other figures than the
    original, and help lines that have others than their flag's label.

    A fee that is raised in one language only leaves the old one to the others, and a help line with
    an old number leads nowhere. Words cannot be compared across languages, but figures can.
    Categories are left out: their keywords are what citizens type, not what they read.
    """
    agencies = {agency.id: agency for agency in bundle.agencies}
    services = {(service.agency, service.key): service for service in bundle.services}
    for text in bundle.translations:
        original: Agency | Service | None = (
            services.get((text.agency, text.service)) if text.service else agencies.get(text.agency)
        )
        if original is not None and not text.category:
            columns = TRANSLATED["service" if text.service else "agency"]
            pairs = {name: (getattr(original, name), getattr(text, name)) for name in columns}
            yield from _figures("translations", text, pairs)
    situations = {situation.key: situation for situation in bundle.situations}
    for text in bundle.translations:
        if situation := situations.get(text.situation):
            both = (dict(map(parts, lines)) for lines in (situation.services, text.conditions))
            original_conditions, conditions = both
            pairs = {
                "name": (situation.name, text.name),
                "description": (situation.description, text.description),
                # Conditions that are not translated are no difference.
                "conditions": (
                    tuple(original_conditions.get(name, "") for name in conditions),
                    tuple(conditions.values()),
                ),
            }
            yield from _figures("translations", text, pairs)
    flags = {label.code: label for label in bundle.labels if label.set == "risk_flags"}
    for line in bundle.help_lines:
        if label := flags.get(line.flag):
            yield from _figures("help_lines", line, {"text": (label.description, line.text)})


def stale_translations(bundle: Bundle) -> Iterator[Remark]:
    """Yield translations with texts whose original has changed since."""
    for text in bundle.translations:
        if text.stale:
            names = ", ".join(name.replace("_", " ") for name in text.stale)
            sentence = (
                f"The original has changed since these texts were translated: {names}. Citizens "
                "are not shown them: change them, or say that they are still right."
            )
            yield warning("translation.stale", "translations", text, sentence)


def _figures(table: Table, row: Any, pairs: Mapping[str, tuple[_Text, _Text]]) -> Iterator[Remark]:
    differences = []
    for column, both in pairs.items():
        original, translation = (figures("\n".join(_lines(text))) for text in both)
        # A text that is not translated is no difference: citizens read the original.
        if "".join(_lines(both[1])) and set(original) != set(translation):
            differences.append(
                f"{column.replace('_', ' ')}: {_only(original, translation)} in the original, "
                f"{_only(translation, original)} here"
            )
    if differences:
        text = "; ".join(differences)
        sentence = f"It has other figures ({text}). See whether the translation is behind."
        yield warning("translation.figures", table, row, sentence)


def _lines(value: _Text) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _only(figures: Iterable[str], others: Iterable[str]) -> str:
    return ", ".join(figure for figure in dict.fromkeys(figures) if figure not in others) or "none"


def missing_texts(bundle: Bundle, languages: Sequence[str]) -> Iterator[Remark]:
    """Yield a warning for each case that is no inquiry and each language without a text.

    ``languages`` are those that the knowledge is written and answered in; those of its translations
    come to them.
    """
    for language in dict.fromkeys([*languages, *(row.language for row in bundle.translations)]):
        for case in guidance.missing(bundle.texts, language):
            begun = any(text.case == case for text in bundle.texts)
            instead = "the one that is shipped, or English," if begun else "English"
            sentence = (
                f"There is no text for the case {case.replace('_', ' ')} in the language "
                f"{language}, so people read {instead} instead: write one."
            )
            entry = f"{case} {language}"
            yield Remark("text.missing", Severity.WARNING, "texts", entry, "", sentence)


def too_long(bundle: Bundle, budget: int | None) -> Iterator[Remark]:
    """Yield entries whose candidate slot costs more than its share of ``budget``.

    ``budget`` is the input of one call in tokens, None for no limit; a slot's tokens are its UTF-8
    bytes, as in :mod:`ieim.pipeline.budget`. An error where the slot alone is over the budget: then
    no question about it can be asked at all.
    """
    if budget is None:
        return
    limits = Options().limits
    for agency in bundle.agencies:
        slot = {"name": agency.name, "path": agency.path, "description": agency.description}
        yield from _cost("agencies", agency, slot, budget, limits["agencies"])
    for entry in bundle.dictionary:
        slot = {"value": entry.value, "keywords": "\n".join(entry.keywords)}
        yield from _cost("dictionary", entry, slot, budget, limits["categories"])
    for service in bundle.services:
        # As it is answered from: what is only chosen from is cut.
        detailed = service_slot(Ranked(service, 1, 0.0), detail=True)
        yield from _cost("services", service, detailed, budget, limits["services"])


def _cost(
    table: Table, row: Any, slot: Mapping[str, Any], budget: int, limit: int
) -> Iterator[Remark]:
    cost, share = len(dumps(slot).encode()), budget // limit
    if cost > share:
        longest = max(slot, key=lambda name: len(dumps(slot[name]).encode())).replace("_", " ")
        severity, over = Severity.WARNING, f"its share of a question's budget is {share:,}"
        if cost > budget:
            severity, over = Severity.ERROR, f"the whole budget of a question is {budget:,}"
        sentence = f"It costs up to {cost:,} tokens, and {over}: shorten the {longest}."
        yield _remark("budget.terms", severity, table, row, sentence)
