"""Importing the rows of a file: what would change in the draft, and changing it.

Nothing is ever removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from ieim.knowledge.bundles.columns import Values
from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.bundles.situations import parts
from ieim.people.models import User
from ieim.studio.exchange.importing import Plan, plan_import, write_import
from ieim.studio.models import Situation
from ieim.studio.standards.report import Problem, StandardError
from ieim.studio.standards.rows import Mapped


def plan(mapped: Mapped, by: User | None = None) -> Plan:
    """Return what importing ``mapped`` would do to the draft as it is now.

    Raises:
        StandardError: For what the draft could not have.
    """
    return _checked(plan_import(_tables(mapped), by=by), mapped)


@transaction.atomic
def merge(*, mapped: Mapped, by: User | None, expected_fingerprint: str | None = None) -> Plan:
    """Import ``mapped`` into the draft, all or nothing, and return what was done.

    Raises:
        Moved: The fingerprint of the plan is not ``expected_fingerprint``.
        OutOfScope: ``by`` does not work for one of the agencies.
        StandardError: For what the draft could not have.
    """
    tables = _tables(mapped)
    return _checked(
        write_import(
            tables, by=by, expected_fingerprint=expected_fingerprint, standard=mapped.standard
        ),
        mapped,
    )


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
    tables = {table: list(rows.values()) for table, rows in mapped.rows.items()}
    stored = dict(Situation.objects.values_list("key", "services"))
    tables["situations"] = [
        {**row, "services": _merged_steps(stored[row["key"]], row.get("services"))}
        if row["key"] in stored
        else row
        for row in tables.get("situations", ())
    ]
    return tables if tables["situations"] else {t: r for t, r in tables.items() if r}


def _merged_steps(stored: Sequence[str], services: Sequence[str] | None) -> list[str]:
    if services is None:
        return list(stored)
    both = {parts(line)[0]: line for line in stored if parts(line)[0] in services}
    return [*both.values(), *(service for service in services if service not in both)]
