"""The columns of every table: their limits, and what makes a value and a row good."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from ieim.knowledge.bundles.questions import QUESTION_LIMIT, personal_data
from ieim.knowledge.bundles.rows import IDENTITY, BundleProblem, Row, Table, Value, Wrong
from ieim.knowledge.bundles.situations import (
    CONDITION_LIMIT,
    DESCRIPTION_LIMIT,
    bad_lines,
    line,
    parts,
)
from ieim.pipeline.canonical import two_decimals
from ieim.pipeline.knowledge import (
    CASES,
    CIRCUMSTANCES,
    LABEL_SETS,
    NO_NEXT,
    QUESTION_ORIGINS,
    SITUATION_KINDS,
)

ID_LIMIT = 200
NAME_LIMIT = 500
VALUE_LIMIT = 1_000
LINK_LIMIT = 2_048
TEXT_LIMIT = 10_000
LIST_LIMIT = 100
"""The longest values, in code points, and the most entries of a list."""

EFFECTS = ("none", "hold", "escalate")
"""What a risk flag may do."""

KINDS = ("danger", "near_miss")
"""What an example is of: of somebody in danger, or of what only sounds like it."""

EXAMPLE_LIMIT = 400
EXAMPLES_LIMIT = 500
"""The longest example, and the most of one administration: the time of teaching grows with the
cube of all of them."""

GUIDANCE_LIMIT = 800
"""The longest text of a case that is no inquiry: a few short sentences."""

ACTIVE_SCHEMES = frozenset(
    {
        *("blob", "data", "file", "filesystem", "ftp", "ftps", "jar", "javascript", "livescript"),
        *("mailto", "mhtml", "sftp", "sms", "ssh", "tel", "vbscript", "view-source", "ws", "wss"),
    }
)
"""Schemes that open or run something other than a web page, refused even in a plain-text path.

Other words before a colon are taken for text ("News: ..."); nothing but http and https is ever made
a link."""

_WEB = ("http://", "https://")
_LANGUAGE = re.compile(r"[a-z]{2,3}", re.ASCII)
_SCHEME = re.compile(r"(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*+):", re.ASCII)
_DAYS = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# What browsers skip before and inside a scheme.
_SKIPPED = re.compile("[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")

Values: TypeAlias = dict[str, Any]


class Complaint(NamedTuple):
    """A predicate of a value, or of a part of it: "must be text, this is a number"."""

    text: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: how a raw value becomes a good one, and whether it must be there."""

    read: Callable[[Value], tuple[Any, Iterator[Complaint]]]
    blank: Any = ""
    required: bool = False


def _text(limit: int, extra: Callable[[str], Iterator[str]] | None = None) -> Column:
    def read(value: Value) -> tuple[str, Iterator[Complaint]]:
        return (value if isinstance(value, str) else ""), map(Complaint, complaints(value))

    def complaints(value: Value) -> Iterator[str]:
        if not isinstance(value, str):
            yield f"must be text, this is {_what(value)}{_hint(value)}"
            return
        yield from _bad_text(value, limit)
        if extra is not None:
            yield from extra(value)

    return Column(read)


def _list(limit: int) -> Column:
    def read(value: Value) -> tuple[tuple[str, ...], Iterator[Complaint]]:
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        return tuple(item for item in items if isinstance(item, str)), complaints(value)

    def complaints(value: Value) -> Iterator[Complaint]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            yield Complaint(f"must be a list of texts, this is {_what(value)}")
            return
        if len(value) > LIST_LIMIT:
            yield Complaint(f"has {len(value):,} entries: {LIST_LIMIT} is the limit")
        for place, item in enumerate(value, start=1):
            part = f"entry {place}"
            if not isinstance(item, str):
                yield Complaint(f"must be text, this is {_what(item)}{_hint(item)}", part)
            elif not item.strip():
                yield Complaint("is blank: leave it out", part)
            else:
                yield from (Complaint(text, part) for text in _bad_text(item, limit))

    return Column(read, blank=())


def _steps(value: Value) -> tuple[tuple[str, ...], Iterator[Complaint]]:
    items, complaints = _STEPS.read(value)
    wrong = (Complaint(text, f"entry {place}") for place, text in bad_lines(items))
    return tuple(line(*parts(item)) for item in items), chain(complaints, wrong)


def _threshold(value: Value) -> tuple[Decimal | None, Iterator[Complaint]]:
    if isinstance(value, Decimal) and value.is_finite() and 0 <= value <= 1:
        with suppress(ValueError):
            return two_decimals(value), iter(())
    shown = value if isinstance(value, str | Decimal) else _what(value)
    complaint = f"must be a number from 0 to 1 with two decimals at most, this is {str(shown)[:40]}"
    return None, iter([Complaint(complaint)])


def _effect(value: Value) -> tuple[str, Iterator[Complaint]]:
    # Minutes and days are digits in every format, and YAML and JSON read digits as numbers.
    if isinstance(value, Decimal) and value.is_finite() and abs(value) < 10**9:
        value = str(int(value)) if value == int(value) else value
    return _text(ID_LIMIT).read(value)


def _days(value: Value) -> tuple[str, Iterator[Complaint]]:
    read, complaints = _effect(value)
    if isinstance(value, Wrong) or not read or _DAYS.fullmatch(read):
        return read, complaints
    return "", iter([Complaint(f"is {read[:40]!r}: write a number of days from 1 to 9999")])


def _id_extra(value: str) -> Iterator[str]:
    if value != value.strip() or _CONTROL.search(value):
        yield "begins or ends with a space or has a control character: ids are compared exactly"


def _question_extra(value: str) -> Iterator[str]:
    yield from _id_extra(value)
    yield from personal_data(value)


def _origin(value: Value) -> tuple[str, Iterator[Complaint]]:
    options = _one_of(QUESTION_ORIGINS, f"one of {', '.join(QUESTION_ORIGINS)}")
    read, complaints = _text(ID_LIMIT, options).read(value)
    return read or QUESTION_ORIGINS[0], complaints


def _language_extra(value: str) -> Iterator[str]:
    if value and not _LANGUAGE.fullmatch(value):
        yield f"is {value[:20]!r}: use a code of ISO 639, such as fr"


def _one_of(options: Sequence[str], listed: str) -> Callable[[str], Iterator[str]]:
    def complaints(value: str) -> Iterator[str]:
        if value and value not in options:
            yield f"is {value[:80]!r}: use {listed}"

    return complaints


def _url_extra(value: str) -> Iterator[str]:
    if value and not value.lower().startswith(_WEB):
        yield f"is {value[:80]!r}: it must begin with http:// or https://, or be blank"
    elif value:
        yield from _unreadable(value)


def _path_extra(value: str) -> Iterator[str]:
    scheme = _SCHEME.match(_SKIPPED.sub("", value).lower())
    if scheme and scheme[1] in ACTIVE_SCHEMES:
        yield f"begins with {scheme[1]}: use a link that begins with http:// or https://, or words"
    elif value.lower().startswith(_WEB):
        yield from _unreadable(value)


def _unreadable(link: str) -> Iterator[str]:
    try:
        readable = urlsplit(link).port != 0
    except ValueError:
        readable = False
    if not readable:
        yield f"is {link[:80]!r}, which no browser can read: write the whole link"


def opens(link: str) -> bool:
    """Whether a checked ``link`` has a host and no spaces.

    Real catalogues have a few that do not ("http://", two links in one cell): they are warned of,
    not refused.
    """
    return bool(urlsplit(link).hostname) and not _SKIPPED.search(link)


def _bad_text(value: str, limit: int) -> Iterator[str]:
    if len(value) > limit:
        yield f"has {len(value):,} characters: {limit:,} is the limit"
    if "\x00" in value:
        yield "contains the character NUL: remove it"
    if _SURROGATE.search(value):
        yield "contains half of a surrogate pair: write the whole character"


def _what(value: object) -> str:
    if isinstance(value, Wrong):
        return value.what
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Decimal | int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if value is None:
        return "missing"
    return "a list" if isinstance(value, Sequence) else "an object"


def _hint(value: Value) -> str:
    quotable = isinstance(value, bool | Decimal) or value == Wrong("a date")
    return ": put it in quotes" if quotable else ""


def _required(column: Column) -> Column:
    return Column(column.read, column.blank, required=True)


_ID = _required(_text(ID_LIMIT, _id_extra))
_NAME = _required(_text(NAME_LIMIT))
_TEXT = _text(TEXT_LIMIT)
_PATH = _text(LINK_LIMIT, _path_extra)
_STEPS = _list(2 * ID_LIMIT + CONDITION_LIMIT + 4)
"""A reference is two ids and a slash; three characters stand before a condition."""
_LANGUAGE_OF = _required(_text(8, _language_extra))

_TEXTS = (*CASES, *CIRCUMSTANCES)

COLUMNS: Mapping[Table, Mapping[str, Column]] = {
    "agencies": {"id": _ID, "name": _NAME, "path": _PATH, "description": _TEXT},
    "dictionary": {
        "agency": _ID,
        "key": _ID,
        "value": _text(VALUE_LIMIT),
        "keywords": _list(VALUE_LIMIT),
    },
    "services": {
        "agency": _ID,
        "key": _ID,
        "name": _NAME,
        "path": _PATH,
        "overview": _TEXT,
        "applicability_summary": _TEXT,
        "categories": _list(ID_LIMIT),
        "requirements": _list(TEXT_LIMIT),
        "fees": _TEXT,
        "processing_time": _TEXT,
        "how_to_apply": _list(TEXT_LIMIT),
        "contact": _TEXT,
        "url": _text(LINK_LIMIT, _url_extra),
        "next_services": _list(2 * ID_LIMIT + 1),
        "deadline_days": Column(_days),
    },
    "labels": {
        "set": _ID,
        "code": _ID,
        "name": _NAME,
        "description": _TEXT,
        "threshold": Column(_threshold, blank=None),
        "effect": Column(_effect),
    },
    "translations": {
        "language": _LANGUAGE_OF,
        "agency": _ID,
        "category": _text(ID_LIMIT),
        "service": _text(ID_LIMIT),
        "name": _text(VALUE_LIMIT),
        "description": _TEXT,
        "keywords": _list(VALUE_LIMIT),
        "overview": _TEXT,
        "applicability_summary": _TEXT,
        "requirements": _list(TEXT_LIMIT),
        "fees": _TEXT,
        "processing_time": _TEXT,
        "how_to_apply": _list(TEXT_LIMIT),
        "contact": _TEXT,
    },
    "help_lines": {"language": _LANGUAGE_OF, "flag": _ID, "text": _required(_TEXT)},
    "risk_examples": {
        "language": _LANGUAGE_OF,
        "text": _required(_text(EXAMPLE_LIMIT, _id_extra)),
        "flag": _ID,
        "kind": _required(_text(ID_LIMIT, _one_of(KINDS, " or ".join(KINDS)))),
    },
    "texts": {
        "case": _required(_text(ID_LIMIT, _one_of(_TEXTS, f"one of {', '.join(_TEXTS)}"))),
        "language": _LANGUAGE_OF,
        "text": _required(_text(GUIDANCE_LIMIT)),
    },
    "situations": {
        "key": _ID,
        "kind": _required(_text(ID_LIMIT, _one_of(SITUATION_KINDS, " or ".join(SITUATION_KINDS)))),
        "name": _NAME,
        "description": _text(DESCRIPTION_LIMIT),
        "services": Column(_steps, blank=()),
    },
    "questions": {
        "agency": _text(ID_LIMIT, _id_extra),
        "service": _text(ID_LIMIT, _id_extra),
        "situation": _text(ID_LIMIT, _id_extra),
        "language": _LANGUAGE_OF,
        "text": _required(_text(QUESTION_LIMIT, _question_extra)),
        "origin": Column(_origin, blank=QUESTION_ORIGINS[0]),
    },
}

TRANSLATED: Mapping[str, tuple[str, ...]] = {
    "agency": ("name", "description"),
    "category": ("name", "keywords"),
    "service": (
        *("name", "overview", "applicability_summary", "requirements", "fees"),
        *("processing_time", "how_to_apply", "contact"),
    ),
}
"""Which texts a translation of each has; the ``name`` of a category is its ``value``."""

_MINUTES = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


def check_row(table: Table, row: Row) -> tuple[Values, list[BundleProblem]]:
    """Return the good values of every column of ``row``, and what is wrong with it.

    A value that is not there, or is wrong, comes back as the column's blank.
    """
    columns = COLUMNS[table]
    problems = [
        BundleProblem(
            row.file,
            row.line_of(name),
            f"the column {name[:80]!r} is unknown: {table} have {', '.join(columns)}",
        )
        for name in row.values
        if name not in columns
    ]
    values: Values = {}
    for name, column in columns.items():
        raw = row.values.get(name)
        complaints: Sequence[Complaint] = ()
        if raw is None:
            values[name] = column.blank
        else:
            values[name], found = column.read(raw)
            complaints = list(found)
        if column.required and (raw is None or (isinstance(raw, str) and not raw.strip())):
            complaints = [Complaint("is missing: fill it in")]
        line = row.line_of(name)
        problems.extend(BundleProblem(row.file, line, c.text, name, c.part) for c in complaints)
    if table == "labels":
        problems.extend(_bad_label(row, values))
    if table == "translations":
        problems.extend(_bad_translation(row, values))
    if table == "questions":
        problems.extend(_bad_question(row, values, {problem.column for problem in problems}))
    return values, problems


def _bad_label(row: Row, values: Values) -> Iterator[BundleProblem]:
    label_set, effect = values["set"], values["effect"]
    if label_set and label_set not in LABEL_SETS:
        complaint, shown = f"is unknown: use {', '.join(LABEL_SETS)}", repr(label_set[:80])
        yield BundleProblem(row.file, row.line_of("set"), complaint, "set", shown)
    elif effect and (expected := _expected_effect(label_set, effect)):
        complaint, shown = f"is not {expected}", repr(effect[:80])
        yield BundleProblem(row.file, row.line_of("effect"), complaint, "effect", shown)


def _bad_translation(row: Row, values: Values) -> Iterator[BundleProblem]:
    if values["category"] and values["service"]:
        message = "has a category and a service: a translation is of one of them"
        yield BundleProblem(row.file, row.line_of("service"), message)
        return
    what = "category" if values["category"] else "service" if values["service"] else "agency"
    for column in dict.fromkeys(name for names in TRANSLATED.values() for name in names):
        if values[column] and column not in TRANSLATED[what]:
            texts = ", ".join(TRANSLATED[what])
            complaint = f"does not belong here: a translated {what} has {texts}"
            yield BundleProblem(row.file, row.line_of(column), complaint, column)


def _bad_question(row: Row, values: Values, wrong: Collection[str]) -> Iterator[BundleProblem]:
    """Yield what keeps a question from having a service or a situation; the columns ``wrong`` are
    noted already."""
    if values["situation"] and (values["agency"] or values["service"]):
        message = "has a situation and a service: a question is of one of them"
        yield BundleProblem(row.file, row.line_of("situation"), message)
    elif not values["situation"] and "situation" not in wrong:
        for column in ("agency", "service"):
            if not values[column] and column not in wrong:
                complaint = "is missing: fill it in, or name a situation instead of a service"
                yield BundleProblem(row.file, row.line_of(column), complaint, column)


def _expected_effect(label_set: str, effect: str) -> str | None:
    """Return what the effect of a label in ``label_set`` must be, None when it is that."""
    if label_set == "risk_flags":
        return None if effect in EFFECTS else "one of " + ", ".join(EFFECTS)
    if label_set == "urgencies":
        return None if _MINUTES.fullmatch(effect) else "a whole number of minutes"
    if label_set == "entity_types":
        return None if effect == "mask" else "mask"
    return "allowed here: only risk_flags, urgencies and entity_types have one"


def duplicates(table: Table, checked: Sequence[tuple[Row, Values]]) -> Iterator[BundleProblem]:
    """Yield rows that another has the identity of."""
    first: dict[tuple[str, ...], Row] = {}
    columns = IDENTITY[table]
    for row, values in checked:
        identity = tuple(values[column] for column in columns)
        if not all(
            v or not COLUMNS[table][c].required for c, v in zip(columns, identity, strict=True)
        ):
            continue
        before = first.setdefault(identity, row)
        if before is not row:
            filled = [column for column, v in zip(columns, identity, strict=True) if v]
            names, shown = " and ".join(filled), " ".join(filter(None, identity))
            where = before.file if before.line is None else f"line {before.line}"
            message = f"has the same {names} as {where} ({shown[:200]!r}): make it different"
            yield BundleProblem(row.file, row.line_of(columns[-1]), message)


def dangling(
    tables: Mapping[Table, Sequence[Row]], good: Mapping[Table, Sequence[Values]]
) -> Iterator[BundleProblem]:
    """Yield references to what is not there; silent about a table that could not be read."""
    agencies = {values["id"] for values in good["agencies"]}
    entries = {(values["agency"], values["key"]) for values in good["dictionary"]}
    services = {(values["agency"], values["key"]) for values in good["services"]}
    references = {NO_NEXT, *("/".join(service) for service in services)}
    for table in ("dictionary", "services", "translations", "questions"):
        for row, values in zip(tables.get(table, ()), good[table], strict=True):
            for each in values.get("next_services", ()):
                if each not in references:
                    message = f"service {each[:200]!r} is not there: write agency/key, or {NO_NEXT}"
                    yield BundleProblem(row.file, row.line_of("next_services"), message)
            agency = values["agency"]
            if not agency:
                continue
            if agency not in agencies and "agencies" in tables:
                message = f"agency {agency[:200]!r} is not among the agencies"
                yield BundleProblem(row.file, row.line_of("agency"), message)
                continue
            named: list[tuple[str, str, str]] = []
            if "dictionary" in tables:
                named += [("categories", "category", key) for key in values.get("categories", ())]
                named += [("category", "category", values.get("category", ""))]
            if "services" in tables and table in ("translations", "questions"):
                named.append(("service", "service", values["service"]))
            for column, what, key in named:
                if key and (agency, key) not in (entries if what == "category" else services):
                    place = "in the dictionary" if what == "category" else "among the services"
                    message = f"{what} {key[:200]!r} is not {place} of {agency[:200]!r}"
                    yield BundleProblem(row.file, row.line_of(column), message)


def stepless(
    tables: Mapping[Table, Sequence[Row]], good: Mapping[Table, Sequence[Values]]
) -> Iterator[BundleProblem]:
    """Yield services of situations, and situations of questions, that are not there."""
    services = {f"{values['agency']}/{values['key']}" for values in good["services"]}
    for row, values in zip(tables.get("situations", ()), good["situations"], strict=True):
        for reference, _ in map(parts, values["services"]):
            if "services" in tables and "/" in reference and reference not in services:
                complaint = f"service {reference[:200]!r} is not there: write agency/key"
                yield BundleProblem(row.file, row.line_of("services"), complaint)
    keys = {values["key"] for values in good["situations"]}
    for row, values in zip(tables.get("questions", ()), good["questions"], strict=True):
        if (key := values["situation"]) and key not in keys:
            complaint = f"situation {key[:200]!r} is not among the situations"
            yield BundleProblem(row.file, row.line_of("situation"), complaint)


def flagless(
    tables: Mapping[Table, Sequence[Row]],
    good: Mapping[Table, Sequence[Values]],
    labels: Iterable[Values],
) -> Iterator[BundleProblem]:
    """Yield risk flags that none of ``labels`` is."""
    codes = {(values["set"], values["code"]) for values in labels}
    for table in ("help_lines", "risk_examples"):
        for row, values in zip(tables.get(table, ()), good[table], strict=True):
            flag = values["flag"]
            if flag and ("risk_flags", flag) not in codes:
                message = f"flag {flag[:200]!r} is not among the labels of risk_flags"
                yield BundleProblem(row.file, row.line_of("flag"), message)
