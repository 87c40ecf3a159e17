"""Import of a file of an open standard: read it, plan what would change in the draft, change it.

Nothing is ever removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from django.db import transaction

from ieim.knowledge.bundles.columns import Values
from ieim.knowledge.bundles.formats import MAX_FILE_BYTES, decoded
from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.bundles.situations import parts
from ieim.people.models import User
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import strict_json
from ieim.studio.exchange.importing import Plan, plan_import, write_import
from ieim.studio.models import Situation
from ieim.studio.standards.hsds import EXPECTED, read_hsds
from ieim.studio.standards.linked_data import read_json_ld
from ieim.studio.standards.report import Problem, Report, StandardError
from ieim.studio.standards.rows import Mapped, to_rows

MAX_DEPTH = strict_json.MAX_DEPTH - 1
"""The deepest nesting of a file; its outermost value counts as 1."""

_MARKUP = (
    "is a web page or XML, not JSON: choose the catalogue's JSON file. A page may hold one: save "
    'what stands in it between <script type="application/ld+json"> and </script>'
)
_KEYWORDS = frozenset({"@context", "@graph", "@id", "@type"})


def read_standard(data: bytes, *, into: str | None = None) -> tuple[Mapped, Report]:
    """Return the rows of a file and the report of what has no place in them.

    ``into`` is the agency that it is for (see :func:`ieim.studio.standards.rows.to_rows`).

    Raises:
        StandardError: With every reason why the file cannot be used.
    """
    value = read_json(data)
    report = Report()
    contents = (read_json_ld if _is_json_ld(value) else read_hsds)(value, report)
    report.check()
    mapped = to_rows(contents, into=into)
    if not any(mapped.rows.values()):
        raise StandardError([Problem("", f"has nothing that could be taken over: {EXPECTED}")])
    return mapped, report


def read_json(data: bytes) -> Any:
    """Return the value of a JSON file: UTF-8 or UTF-16, :data:`MAX_FILE_BYTES` at most.

    Numbers with a fraction or an exponent are Decimal, others int.

    Raises:
        StandardError: For what is no JSON text, and with one problem each for keys that stand
            twice, NaN and Infinity, numbers that no double holds, NUL and lone surrogates.
    """
    if len(data) > MAX_FILE_BYTES:
        raise _refusal(f"is larger than {MAX_FILE_BYTES // 2**20} MiB: split it")
    try:
        text = decoded(data)
        # The strict reader takes one object, and a file may be a list. Only a text that is JSON by
        # itself may be wrapped: this is what says so, and where it is not.
        json.loads(text, parse_int=str, parse_float=str)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(f"is not UTF-8 text (line {line}): save it as UTF-8") from error
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("<"):
            raise _refusal(_MARKUP) from error
        problem = f"is not JSON: {error.msg}" if text.strip() else "is empty"
        raise _refusal(f"{problem} (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise _refusal(f"is nested more than {MAX_DEPTH} levels deep") from error
    value, findings = strict_json.parse(f'{{"":{text}}}')
    if value is None:
        if findings[0].code == Code.JSON_TOO_DEEP:
            raise _refusal(f"is nested more than {MAX_DEPTH} levels deep")
        raise StandardError(Problem(f.path.removeprefix("/"), f.message) for f in findings)
    return value[""]


def _refusal(message: str) -> StandardError:
    return StandardError([Problem("", message)])


def _is_json_ld(value: Any) -> bool:
    if isinstance(value, list):
        return any(_is_json_ld(item) for item in value if isinstance(item, dict))
    return isinstance(value, dict) and not _KEYWORDS.isdisjoint(value)


def plan(mapped: Mapped, by: User | None = None) -> Plan:
    """Return what importing ``mapped`` would do to the draft as it is now.

    Raises:
        StandardError: For what the draft could not have.
    """
    return _checked(plan_import(_tables(mapped), by=by), mapped)


@transaction.atomic
def merge(
    *,
    mapped: Mapped,
    by: User | None,
    expected_fingerprint: str | None = None,
    chosen: Collection[str] | None = None,
) -> Plan:
    """Import ``mapped`` into the draft, all or nothing, and return what was done.

    For ``chosen`` see :func:`ieim.studio.exchange.importing.write_import`.

    Raises:
        Moved: The fingerprint of the plan is not ``expected_fingerprint``.
        OutOfScope: ``by`` does not work for one of the agencies.
        StandardError: For what the draft could not have.
    """
    plan = write_import(
        _tables(mapped),
        by=by,
        expected_fingerprint=expected_fingerprint,
        standard=mapped.standard,
        chosen=chosen,
    )
    return _checked(plan, mapped)


def _checked(plan: Plan, mapped: Mapped) -> Plan:
    problems: list[Problem] = []
    for table, rows in mapped.rows.items():
        for index, (identity, values) in enumerate(rows.items()):
            pointer = mapped.pointers[table, identity]
            for column, wrong in plan.problems[table].get(index, {}).items():
                texts = [problem.text for problem in wrong]
                if column == "agency":
                    agency = f"the agency {values['agency'][:200]!r}, which the file does not"
                    hint = "add it to the draft, or choose the one it is for"
                    texts = [f"belongs to {agency} describe: {hint}"]
                problems.extend(Problem(pointer, text) for text in texts)
    if problems:
        raise StandardError(problems)
    return plan


def _tables(mapped: Mapped) -> dict[Table, list[Values]]:
    """Return the rows by table; no standard has a place for the order of a situation's services,
    nor for their conditions: those that the draft has keep theirs."""
    tables = {t: [dict(row) for row in rows.values()] for t, rows in mapped.rows.items() if rows}
    stored = dict(Situation.objects.values_list("key", "services"))
    for row in tables.get("situations", ()):
        services: list[str] = row.get("services", [])
        lines = {parts(line)[0]: line for line in stored.get(row["key"], ())}
        kept = {name: line for name, line in lines.items() if name in services}
        if kept:
            row["services"] = [*kept.values(), *(name for name in services if name not in kept)]
    return tables
