"""The tables of the knowledge: one pydantic model a table declares its columns and their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from ieim.knowledge.bundles.questions import QUESTION_LIMIT, without_personal_data
from ieim.knowledge.bundles.rows import BundleProblem, Row, Table, Value, Wrong
from ieim.knowledge.bundles.situations import CONDITION_LIMIT, DESCRIPTION_LIMIT, line, parts
from ieim.pipeline import structured
from ieim.pipeline.canonical import two_decimals
from ieim.pipeline.knowledge import (
    CASES,
    CIRCUMSTANCES,
    LABEL_SETS,
    QUESTION_ORIGINS,
    SERVICE_TEXTS,
    SITUATION_KINDS,
)

ID_LIMIT = 200
NAME_LIMIT = 500
VALUE_LIMIT = 1_000
LINK_LIMIT = 2_048
TEXT_LIMIT = 10_000
LIST_LIMIT = 100
"""The longest values, in code points, and the most entries of a list."""

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
_EFFECTS = {
    "risk_flags": (re.compile("none|hold|escalate"), "one of none, hold, escalate"),
    "urgencies": (re.compile("[1-9][0-9]{0,5}"), "a whole number of minutes"),
    "entity_types": (re.compile("mask"), "mask"),
}
"""What a label of a set may do, and that in words."""
_NO_EFFECT = (re.compile(""), "allowed here: only risk_flags, urgencies and entity_types have one")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# What browsers skip before and inside a scheme.
_SKIPPED = re.compile("[\x00-\x20\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")

Values: TypeAlias = dict[str, Any]
Complaint: TypeAlias = tuple[str, str, str]
"""A column ("" for the row), what is wrong as a predicate of its value, and the part of the value
that is meant ("" for all of it)."""


def _rule(holds: Callable[[str], object], sentence: str) -> AfterValidator:
    """Return the rule of a text that is not blank; ``sentence`` is its predicate where it does not
    hold, and may name the ``value``."""

    def check(value: str) -> str:
        if value and not holds(value):
            raise ValueError(sentence.format(value=repr(value[:80])))
        return value

    return AfterValidator(check)


def _one_of(options: Sequence[str], separator: str = ", ", before: str = "one of ") -> Any:
    return _rule(options.__contains__, f"is {{value}}: use {before}{separator.join(options)}")


def _check_filled(value: Value) -> Value:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("missing", "missing")
    return value


def _is_readable(link: str) -> bool:
    """Whether a browser can read ``link``, if it is one."""
    try:
        return not link.lower().startswith(_WEB) or urlsplit(link).port != 0
    except ValueError:
        return False


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return date.fromisoformat(text).isoformat() == text
    return False


def _check_scheme(path: str) -> str:
    scheme = _SCHEME.match(_SKIPPED.sub("", path).lower())
    if scheme and scheme[1] in ACTIVE_SCHEMES:
        link = "use a link that begins with http:// or https://, or words"
        raise ValueError(f"begins with {scheme[1]}: {link}")
    return path


def _check_line(text: str) -> str:
    reference, condition = parts(text)
    if "/" not in reference:
        raise ValueError(f"is {reference[:80]!r}: write agency/key, or agency/key | condition")
    if len(condition) > CONDITION_LIMIT:
        length = f"{len(condition):,} characters"
        raise ValueError(f"has a condition of {length}: {CONDITION_LIMIT} is the limit")
    return line(reference, condition)


def _check_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    first: dict[str, int] = {}
    for number, (reference, _) in enumerate(map(parts, lines), start=1):
        if (earlier := first.setdefault(reference, number)) != number:
            message = f"names {reference[:200]!r}, as entry {earlier} does: keep one of them"
            context = {"error": message, "part": f"entry {number}"}
            raise PydanticCustomError("value_error", "{error}", context)
    return lines


def _read_threshold(value: Value) -> Decimal:
    if isinstance(value, Decimal) and value.is_finite() and 0 <= value <= 1:
        with suppress(ValueError):
            return two_decimals(value)
    label = str(value if isinstance(value, str | Decimal) else _type_name(value))[:40]
    label = label.encode("utf-8", "replace").decode()  # pydantic takes no half of a surrogate pair
    raise ValueError(f"must be a number from 0 to 1 with two decimals at most, this is {label}")


def _read_digits(value: Value) -> Value:
    # Minutes and days are digits in every format, and YAML and JSON read digits as numbers.
    if isinstance(value, Decimal) and value.is_finite() and abs(value) < 10**9:
        return str(int(value)) if value == int(value) else value
    return value


def _structured(column: str) -> AfterValidator:
    """Return the rule of a text that a reader of structured values takes; blank is blank."""

    def check(value: str) -> str:
        if value.strip():
            structured.READERS[column](value)
        return value

    return AfterValidator(check)


def _check_overlap(hours: tuple[str, ...]) -> tuple[str, ...]:
    if day := structured.overlap(hours):
        raise ValueError(f"has times on {day} that overlap: write one for both")
    return hours


_FILLED = BeforeValidator(_check_filled)
_NO_NUL = _rule(lambda text: "\x00" not in text, "contains the character NUL: remove it")
_EXACT = _rule(
    lambda text: text == text.strip() and not _CONTROL.search(text),
    "begins or ends with a space or has a control character: ids are compared exactly",
)
_READABLE = _rule(_is_readable, "is {value}, which no browser can read: write the whole link")
_ENTRIES = Field(max_length=LIST_LIMIT)

Code: TypeAlias = Annotated[str, Field(max_length=ID_LIMIT), _NO_NUL]
OptionalId: TypeAlias = Annotated[Code, _EXACT]
Id: TypeAlias = Annotated[OptionalId, _FILLED]
Name: TypeAlias = Annotated[str, Field(max_length=NAME_LIMIT), _NO_NUL, _FILLED]
Phrase: TypeAlias = Annotated[str, Field(max_length=VALUE_LIMIT), _NO_NUL]
Text: TypeAlias = Annotated[str, Field(max_length=TEXT_LIMIT), _NO_NUL]
Link: TypeAlias = Annotated[str, Field(max_length=LINK_LIMIT), _NO_NUL]
Path: TypeAlias = Annotated[Link, AfterValidator(_check_scheme), _READABLE]
Language: TypeAlias = Annotated[
    str,
    Field(max_length=8),
    _NO_NUL,
    _rule(_LANGUAGE.fullmatch, "is {value}: use a code of ISO 639, such as fr"),
    _FILLED,
]
Digits: TypeAlias = Annotated[Code, BeforeValidator(_read_digits)]
Structured: TypeAlias = Annotated[str, Field(max_length=VALUE_LIMIT), _NO_NUL]
Amounts: TypeAlias = Annotated[
    tuple[Annotated[Structured, _structured("amounts"), _FILLED], ...], _ENTRIES
]
Places: TypeAlias = Annotated[
    tuple[Annotated[Structured, _structured("places"), _FILLED], ...], _ENTRIES
]
Hours: TypeAlias = Annotated[
    tuple[Annotated[Structured, _structured("hours"), _FILLED], ...],
    _ENTRIES,
    AfterValidator(_check_overlap),
]
Codes: TypeAlias = Annotated[tuple[Annotated[Code, _FILLED], ...], _ENTRIES]
Phrases: TypeAlias = Annotated[tuple[Annotated[Phrase, _FILLED], ...], _ENTRIES]
Texts: TypeAlias = Annotated[tuple[Annotated[Text, _FILLED], ...], _ENTRIES]
Reference: TypeAlias = Annotated[str, Field(max_length=2 * ID_LIMIT + 1), _NO_NUL, _FILLED]
"""Two ids and a slash."""
Line: TypeAlias = Annotated[
    str,
    Field(max_length=2 * ID_LIMIT + CONDITION_LIMIT + 4),
    _NO_NUL,
    AfterValidator(_check_line),
    _FILLED,
]
"""A reference, three characters, and a condition."""
_Lines: TypeAlias = Annotated[tuple[Line, ...], _ENTRIES, AfterValidator(_check_lines)]


_ROW = "row"
"""In the place of a part: the complaint is a predicate of the row, on the line of its column."""


class TableRow(BaseModel):
    """A row of a table; a column without a default has to be filled in."""

    model_config = ConfigDict(validate_assignment=True)

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong with the columns taken together."""
        yield from ()


class AgencyRow(TableRow):
    id: Id
    name: Name
    path: Path = ""
    description: Text = ""
    places: Places = ()
    hours: Hours = ()


class DictionaryRow(TableRow):
    agency: Id
    key: Id
    value: Phrase = ""
    keywords: Phrases = ()


class ServiceRow(TableRow):
    agency: Id
    key: Id
    name: Name
    path: Path = ""
    overview: Text = ""
    applicability_summary: Text = ""
    categories: Codes = ()
    requirements: Texts = ()
    fees: Text = ""
    amounts: Amounts = ()
    processing_time: Text = ""
    processing_days: Annotated[Digits, _structured("processing_days")] = ""
    how_to_apply: Texts = ()
    contact: Text = ""
    places: Places = ()
    hours: Hours = ()
    url: Annotated[
        Link,
        _rule(
            lambda url: url.lower().startswith(_WEB),
            "is {value}: it must begin with http:// or https://, or be blank",
        ),
        _READABLE,
    ] = ""
    next_services: Annotated[tuple[Reference, ...], _ENTRIES] = ()
    deadline_days: Annotated[
        Digits, _rule(_DAYS.fullmatch, "is {value}: write a number of days from 1 to 9999")
    ] = ""
    read_on: Annotated[
        Code, _rule(_is_day, "is {value}: write a day as 2026-11-29, or leave it blank")
    ] = ""


class LabelRow(TableRow):
    set: Id
    code: Id
    name: Name
    description: Text = ""
    threshold: Annotated[Decimal | None, BeforeValidator(_read_threshold)] = None
    effect: Digits = ""

    def complaints(self) -> Iterator[Complaint]:
        if self.set and self.set not in LABEL_SETS:
            yield "set", f"is unknown: use {', '.join(LABEL_SETS)}", repr(self.set[:80])
        elif self.effect:
            rule, expected = _EFFECTS.get(self.set, _NO_EFFECT)
            if not rule.fullmatch(self.effect):
                yield "effect", f"is not {expected}", repr(self.effect[:80])


class TranslationRow(TableRow):
    language: Language
    agency: OptionalId = ""
    category: Code = ""
    service: Code = ""
    situation: OptionalId = ""
    name: Phrase = ""
    description: Text = ""
    keywords: Phrases = ()
    overview: Text = ""
    applicability_summary: Text = ""
    requirements: Texts = ()
    fees: Text = ""
    processing_time: Text = ""
    how_to_apply: Texts = ()
    contact: Text = ""
    conditions: _Lines = ()

    def complaints(self) -> Iterator[Complaint]:
        if self.category and self.service:
            message = "has a category and a service: a translation is of one of them"
            yield "service", message, _ROW
            return
        if self.situation and (self.agency or self.category or self.service):
            message = "has a situation and an agency: a translation is of one of them"
            yield "situation", message, _ROW
            return
        if not (self.situation or self.agency):
            message = "is missing: fill it in, or name a situation instead of an agency"
            yield "agency", message, ""
        kinds = (name for name in ("situation", "category", "service") if getattr(self, name))
        kind = next(kinds, "agency")
        for column in dict.fromkeys(name for names in TRANSLATED.values() for name in names):
            if getattr(self, column) and column not in TRANSLATED[kind]:
                texts = ", ".join(TRANSLATED[kind])
                yield column, f"does not belong here: a translated {kind} has {texts}", ""


class HelpLineRow(TableRow):
    language: Language
    flag: Id
    text: Annotated[Text, _FILLED]


class RiskExampleRow(TableRow):
    language: Language
    text: Annotated[str, Field(max_length=EXAMPLE_LIMIT), _NO_NUL, _EXACT, _FILLED]
    flag: Id
    kind: Annotated[Code, _one_of(KINDS, " or ", ""), _FILLED]


class CaseTextRow(TableRow):
    case: Annotated[Code, _one_of((*CASES, *CIRCUMSTANCES)), _FILLED]
    language: Language
    text: Annotated[str, Field(max_length=GUIDANCE_LIMIT), _NO_NUL, _FILLED]


class SituationTableRow(TableRow):
    key: Id
    kind: Annotated[Code, _one_of(SITUATION_KINDS, " or ", ""), _FILLED]
    name: Name
    description: Annotated[str, Field(max_length=DESCRIPTION_LIMIT), _NO_NUL] = ""
    services: _Lines = ()


class QuestionRow(TableRow):
    agency: OptionalId = ""
    service: OptionalId = ""
    situation: OptionalId = ""
    language: Language
    text: Annotated[
        str,
        Field(max_length=QUESTION_LIMIT),
        _NO_NUL,
        _EXACT,
        AfterValidator(without_personal_data),
        _FILLED,
    ]
    origin: Annotated[
        Code,
        _one_of(QUESTION_ORIGINS),
        AfterValidator(lambda origin: origin or QUESTION_ORIGINS[0]),
    ] = QUESTION_ORIGINS[0]

    def complaints(self) -> Iterator[Complaint]:
        if self.situation and (self.agency or self.service):
            message = "has a situation and a service: a question is of one of them"
            yield "situation", message, _ROW
        elif not self.situation:
            for column in ("agency", "service"):
                if not getattr(self, column):
                    message = "is missing: fill it in, or name a situation instead of a service"
                    yield column, message, ""


ROWS: Mapping[Table, type[TableRow]] = {
    "agencies": AgencyRow,
    "dictionary": DictionaryRow,
    "services": ServiceRow,
    "labels": LabelRow,
    "translations": TranslationRow,
    "help_lines": HelpLineRow,
    "risk_examples": RiskExampleRow,
    "texts": CaseTextRow,
    "situations": SituationTableRow,
    "questions": QuestionRow,
}

COLUMNS: Mapping[Table, Mapping[str, FieldInfo]] = {
    table: model.model_fields for table, model in ROWS.items()
}

TRANSLATED: Mapping[str, tuple[str, ...]] = {
    "agency": ("name", "description"),
    "category": ("name", "keywords"),
    "service": SERVICE_TEXTS,
    "situation": ("name", "description", "conditions"),
}
"""Which texts a translation of each has; the ``name`` of a category is its ``value``."""

_MESSAGES: Mapping[str, Callable[[ErrorDetails], str]] = {
    "missing": lambda error: (
        "is blank: leave it out" if len(error["loc"]) > 1 else "is missing: fill it in"
    ),
    "string_type": lambda error: f"must be text, this is {_type_name(error['input'], hint=True)}",
    "string_unicode": lambda error: "contains half of a surrogate pair: write the whole character",
    "string_too_long": lambda error: (
        f"has {len(error['input']):,} characters: {error['ctx']['max_length']:,} is the limit"
    ),
    "tuple_type": lambda error: f"must be a list of texts, this is {_type_name(error['input'])}",
    "too_long": lambda error: (
        f"has {len(error['input']):,} entries: {error['ctx']['max_length']} is the limit"
    ),
    "value_error": lambda error: str(error["ctx"]["error"]),
}
"""What is wrong with a value, as its predicate, by pydantic's type of error."""


def check_row(table: Table, row: Row) -> tuple[Values, list[BundleProblem]]:
    """Return the good values of every column of ``row``, and what is wrong with it.

    A value that is not there, or is wrong, comes back as the column's default, or blank.
    """
    model = ROWS[table]
    columns = model.model_fields
    filled = {n: v for n, v in row.values.items() if n in columns and v is not None}
    complaints = list[Complaint]()
    try:
        entry = model.model_validate(filled)
    except ValidationError as error:
        complaints = [_complaint(details) for details in error.errors(include_url=False)]
        wrong = {column for column, _, _ in complaints}
        blank: Values = {name: "" for name, column in columns.items() if column.is_required()}
        entry = model.model_construct(**blank)
        for name in filled.keys() - wrong:
            setattr(entry, name, filled[name])
    wrong = {column for column, _, _ in complaints}
    complaints += [complaint for complaint in entry.complaints() if complaint[0] not in wrong]
    problems = [
        BundleProblem(
            row.file,
            row.line_of(name),
            f"the column {name[:80]!r} is unknown: {table} have {', '.join(columns)}",
        )
        for name in row.values
        if name not in columns
    ]
    for column, complaint, part in complaints:
        position = ("", "") if part == _ROW else (column, part)
        problems.append(BundleProblem(row.file, row.line_of(column), complaint, *position))
    return {name: getattr(entry, name) for name in columns}, problems


def refusal(table: Table, column: str, value: object) -> str:
    """Return what is wrong with a value of a column, as its predicate; "" for a good one."""
    try:
        setattr(ROWS[table].model_construct(), column, value)
    except ValidationError as error:
        return _complaint(error.errors(include_url=False)[0])[1]
    return ""


def opens(link: str) -> bool:
    """Whether a checked ``link`` has a host and no spaces.

    Real catalogues have a few that do not ("http://", two links in one cell): they are warned of,
    not refused.
    """
    return bool(urlsplit(link).hostname) and not _SKIPPED.search(link)


def _complaint(error: ErrorDetails) -> Complaint:
    column, *index = error["loc"]
    part = f"entry {int(index[0]) + 1}" if index else error.get("ctx", {}).get("part", "")
    return str(column), _MESSAGES[error["type"]](error), part


def _type_name(value: object, *, hint: bool = False) -> str:
    quotes = ": put it in quotes" if hint else ""
    match value:
        case Wrong(what):
            return what + (quotes if what == "a date" else "")
        case bool():
            return f"true or false{quotes}"
        case Decimal():
            return f"a number{quotes}"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case None:
            return "missing"
        case Sequence():
            return "a list"
    return "an object"
