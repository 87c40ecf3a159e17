"""Stored entries of one table of the draft, and checking and writing what they shall become."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext

from ieim.knowledge.bundles.columns import COLUMNS, EXAMPLES_LIMIT, check_row
from ieim.knowledge.bundles.questions import Questions, folded
from ieim.knowledge.bundles.references import References
from ieim.knowledge.bundles.rows import IDENTITY, Row, Table
from ieim.knowledge.bundles.situations import parts
from ieim.people.models import User
from ieim.studio.drafts.history import change, last_change
from ieim.studio.drafts.selectors import golden_texts
from ieim.studio.drafts.translations import set_sources
from ieim.studio.models import (
    DRAFT_MODELS,
    Agency,
    Category,
    Change,
    DraftEntry,
    ExampleQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Situation,
    Translation,
)


class Problem(NamedTuple):
    """One thing that is wrong, as a sentence without a full stop.

    ``text`` names the column; ``short`` does not: it is shown next to the value.
    """

    text: str
    short: str

    @classmethod
    def of(cls, text: str) -> Problem:
        return cls(text, text)


Problems: TypeAlias = dict[str, list[Problem]]
"""What is wrong, by column."""
Values: TypeAlias = dict[str, Any]

_BATCH = 500
_FEW = 50
"""Up to so many rows are looked up one by one, more by reading the table."""
_KEY = ("id",)
"""Rows are written by it, not by their natural id: of a situation's question a part is NULL."""
_POSITION_LIMIT = 1_000_000
# What no database takes, not even to look for it; the checks say what is wrong with it.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Entries:
    """The stored entries that ``contents`` (columns, perhaps ``position``) are about.

    ``stored`` has them by their natural ids, ``identities`` has those of ``contents`` in its order.
    With ``whole_table``, ``stored`` has the entire table.
    """

    def __init__(
        self, table: Table, contents: Sequence[Mapping[str, Any]], *, whole_table: bool = False
    ) -> None:
        self.table = table
        self.model = DRAFT_MODELS[table]
        self.identities = [_identity(table, values) for values in contents]
        self.stored: dict[tuple[str, ...], DraftEntry] = {}
        rows: QuerySet[DraftEntry] = self.model._default_manager.all()
        if len(contents) <= _FEW and not whole_table:
            rows = rows.filter(_any_of(table, self.identities))
        for entry in rows:
            self.stored[_identity(table, self.values_of(entry))] = entry
        self._contents = contents
        self._put: dict[int, DraftEntry] = {}

    def values_of(self, entry: DraftEntry) -> Values:
        """Return the columns of ``entry``, lists as lists, and its position."""
        return {**column_values(entry), "position": entry.position}

    def check(
        self,
        *,
        new: Collection[int],
        pending: Mapping[Table, Iterable[Mapping[str, Any]]] | None = None,
    ) -> tuple[dict[int, Problems], list[Values]]:
        """Return what is wrong by index of ``contents``, and what every entry is to become.

        ``new`` are the indexes of those that must not be there yet, ``pending`` rows that are
        written before, by table: entries may refer to them.
        """
        merged: list[Values] = []
        wrong: dict[int, Problems] = {}
        references = _references(self.table, self.identities, pending or {})
        first: dict[tuple[str, ...], int] = {}
        last = self.model._default_manager.aggregate(last=Max("position"))["last"]
        last = -1 if last is None else last
        column = IDENTITY[self.table][-1]
        required = [c for c in IDENTITY[self.table] if COLUMNS[self.table][c].is_required()]
        for index, (identity, content) in enumerate(
            zip(self.identities, self._contents, strict=True)
        ):
            before = self.stored.get(identity)
            if before is None:
                last += 1
            start = self.values_of(before) if before else {"position": last}
            values, problems = _checked(self.table, {**start, **content})
            for dangling_column, text in references.dangling(values):
                problems.setdefault(dangling_column, []).append(Problem.of(text))
            name = " ".join(filter(None, identity))
            message = ""
            if all(values[c] for c in required) and first.setdefault(identity, index) != index:
                message = gettext("{name} stands here twice: keep one")
            elif before is not None and index in new:
                message = gettext("there is {name} already: {what}")
            if message:
                version = last_change(self.table, name) if before else ""
                text = message.format(name=repr(name), what=version)
                problems.setdefault(column, []).append(Problem.of(text))
            if problems:
                wrong[index] = problems
            merged.append(values)
        if self.table == "risk_examples":
            self._check_number_of_examples(first, wrong)
        if self.table == "questions":
            self._check_questions(merged, wrong)
        return wrong, merged

    def _check_number_of_examples(
        self, rows: Mapping[tuple[str, ...], int], wrong: dict[int, Problems]
    ) -> None:
        """Note in ``wrong`` the new examples that would be more than the limit."""
        new = [index for identity, index in rows.items() if identity not in self.stored]
        for index in new[max(0, EXAMPLES_LIMIT - RiskExample.objects.count()) :]:
            message = gettext("there are {limit} examples, which is the limit: remove one first")
            problem = Problem.of(message.format(limit=EXAMPLES_LIMIT))
            wrong.setdefault(index, {}).setdefault("text", []).append(problem)

    def _check_questions(self, merged: Sequence[Values], wrong: dict[int, Problems]) -> None:
        """Note in ``wrong`` the questions of which another service or situation has the text, those
        that are golden questions, and those that are one too many."""
        columns = IDENTITY[self.table]
        replaced = set(self.identities)
        questions = Questions()
        for row in ExampleQuestion.objects.values(*columns):
            identity = _identity(self.table, row)
            if identity not in replaced:
                questions.add(dict(zip(columns, identity, strict=True)))
        golden = golden_texts()
        for index, row in enumerate(merged):
            conflict, too_many = questions.add(row)
            if not row["text"].strip():
                continue
            complaints = [conflict] if conflict else []
            if folded(row["text"]) in golden:
                complaints.append(
                    "is a golden question: those test what is learned from examples, so no text "
                    "can be both"
                )
            problems = [Problem(f"text {text}", f"this {text}") for text in complaints]
            if too_many:
                problems.append(Problem.of(too_many))
            if problems:
                wrong.setdefault(index, {}).setdefault("text", []).extend(problems)

    def put(self, index: int, values: Values, *, changed: bool = True) -> None:
        """Note that the entry of ``index`` becomes ``values``, one version on if it ``changed``."""
        before = self.stored.get(self.identities[index])
        version = 1 if before is None else before.version + changed
        columns = {attribute(name): stored_as(name, value) for name, value in values.items()}
        if before is not None:
            columns["id"] = before.pk
        self._put[index] = self.model(**columns, version=version)

    def apply(
        self, merged: Sequence[Values], *, by: User | None, source: Change.Source
    ) -> list[Change]:
        """Store every entry of ``merged`` that differs, and return the changes, not yet stored."""
        changes = []
        for index, (identity, after) in enumerate(zip(self.identities, merged, strict=True)):
            before = self.stored.get(identity)
            old = self.values_of(before) if before else None
            entry_change = change(table=self.table, before=old, after=after, by=by, source=source)
            if entry_change is not None:
                self.put(index, after)
                changes.append(entry_change)
        self.write()
        return changes

    def write(self, progress: Callable[[int], object] = lambda done: None) -> None:
        """Store what was put; ``progress`` is called with how many more entries are done."""
        names = [attribute(n) for n in COLUMNS[self.table] if n not in IDENTITY[self.table]]
        rows = list(self._put.values())
        if self.table == "translations":
            names.append("sources")
            set_sources(rows, self.stored.values())
        progress(len(self.identities) - len(rows))
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            self.model._default_manager.bulk_create(
                batch,
                update_conflicts=True,
                unique_fields=list(_KEY),
                update_fields=["position", "version", *names],
            )
            progress(len(batch))

    def result(self) -> list[DraftEntry]:
        return [
            self._put[index] if index in self._put else self.stored[identity]
            for index, identity in enumerate(self.identities)
        ]


def _references(
    table: Table,
    identities: Sequence[tuple[str, ...]],
    pending: Mapping[Table, Iterable[Mapping[str, Any]]],
) -> References:
    """Return what entries of ``table`` may refer to, in the draft and in ``pending`` rows."""
    pending_ids: dict[str, Any] = {
        name: {_identity(name, row) for row in rows} for name, rows in pending.items()
    }
    services = pending_ids.get("services", set())
    references = References()
    if "flag" in COLUMNS[table]:
        flags = Label.objects.filter(set="risk_flags")
        references.flags = set(flags.values_list("code", flat=True))
    if table in ("translations", "questions"):
        references.situations = set(Situation.objects.values_list("key", flat=True))
    rows = Service.objects.values_list("agency_id", "key")
    if table == "situations":
        references.services = services | set(rows)
    if "agency" not in IDENTITY[table]:
        return references
    position = IDENTITY[table].index("agency")
    agencies = {identity[position] for identity in identities}
    # A translation of a situation has no agency, and its conditions name services of any.
    is_few = len(agencies) <= _FEW and "" not in agencies
    owners = Agency.objects.filter(pk__in=agencies) if is_few else Agency.objects
    references.agencies = set(owners.values_list("pk", flat=True))
    references.agencies |= {pk for (pk,) in pending_ids.get("agencies", ())}
    categories = Category.objects.values_list("agency_id", "key")
    if is_few:
        rows, categories = rows.filter(agency__in=agencies), categories.filter(agency__in=agencies)
    if table in ("services", "translations"):
        references.categories = set(categories) | pending_ids.get("dictionary", set())
    if table in ("translations", "questions"):
        references.services = services | set(rows)
    return references


def attribute(column: str) -> str:
    """Return the model's attribute for ``column``: a reference is stored as the natural id."""
    return "agency_id" if column == "agency" else column


def stored_as(column: str, value: Any) -> Any:
    """Return what the database has for the value of a column: no agency is None there."""
    return value or None if column == "agency" else value


def column_values(entry: DraftEntry) -> Values:
    """Return the columns of a stored entry as a bundle has them."""
    values = {name: getattr(entry, attribute(name)) for name in COLUMNS[entry.table]}
    if "agency" in values:
        values["agency"] = values["agency"] or ""
    return values


def referring(table: Table, identity: Mapping[str, str]) -> list[DraftEntry]:
    """Return the services with a category, or what leads to a service."""
    # Not every database can look into a list, so that is done here.
    if table == "dictionary":
        rows = Service.objects.filter(agency=identity["agency"])
        return [row for row in rows if identity["key"] in row.categories]
    if table != "services":
        return []
    reference = f"{identity['agency']}/{identity['key']}"
    others = Service.objects.exclude(agency=identity["agency"], key=identity["key"])
    situations = Situation.objects.all()
    return [
        *(row for row in situations if reference in dict(map(parts, row.services))),
        *(row for row in others if reference in row.next_services),
    ]


def removal_problem(table: Table, identity: Mapping[str, str]) -> str | None:
    """Return why an entry must stay, None where only translations and questions refer to it."""
    counts: dict[str, int] = {}
    users = [str(getattr(row, "key", "")) for row in referring(table, identity)]
    message = ""
    if table == "agencies":
        counts["services"] = Service.objects.filter(agency=identity["id"]).count()
        counts["categories"] = Category.objects.filter(agency=identity["id"]).count()
        message = gettext(
            "the agency still has {services} services and {categories} dictionary entries: "
            "remove them first"
        )
    elif table == "labels" and identity["set"] == "risk_flags":
        counts["lines"] = HelpLine.objects.filter(flag=identity["code"]).count()
        counts["examples"] = RiskExample.objects.filter(flag=identity["code"]).count()
        message = gettext(
            "the risk flag still has {lines} help lines and {examples} examples: remove them first"
        )
    elif table == "dictionary":
        message = gettext("services still have this category: take it out of {keys} first")
    elif table == "services":
        message = gettext("others still lead to this service: take it out of {keys} first")
    if not users and not any(counts.values()):
        return None
    few = ", ".join(users[:5]) + (", ..." if len(users) > 5 else "")
    return message.format(keys=few, **{name: f"{count:,}" for name, count in counts.items()})


def dependants(table: Table, identity: Mapping[str, str]) -> Iterator[Entries]:
    """Yield the translations and the questions of an entry: they have no meaning without it."""
    translations: Sequence[Mapping[str, Any]] = ()
    if table in ("agencies", "dictionary", "services", "situations"):
        keys = {"dictionary": "category", "services": "service", "situations": "situation"}
        original = dict.fromkeys(keys.values(), "")
        if table in keys:
            original[keys[table]] = identity["key"]
        agency = identity["id"] if table == "agencies" else identity.get("agency")
        rows = Translation.objects.filter(agency=agency, **original)
        translations = rows.values(*IDENTITY["translations"])
    yield Entries("translations", list(translations))
    if table in ("services", "situations"):
        owner = {"situation": identity["key"]}
        if table == "services":
            owner = {"agency": identity["agency"], "service": identity["key"]}
        questions = ExampleQuestion.objects.filter(**owner)
        yield Entries("questions", list(questions.values(*IDENTITY["questions"])))


def _identity(table: Table, values: Mapping[str, Any]) -> tuple[str, ...]:
    parts = (values.get(column) for column in IDENTITY[table])
    return tuple(v if isinstance(v, str) and not _UNSTORABLE.search(v) else "" for v in parts)


def _any_of(table: Table, identities: Sequence[tuple[str, ...]]) -> Q:
    condition = Q(pk__in=[])
    for identity in identities:
        pairs = zip(IDENTITY[table], identity, strict=True)
        condition |= Q(**{column: stored_as(column, value) for column, value in pairs})
    return condition


def _checked(table: Table, values: Values) -> tuple[Values, Problems]:
    """Return the good values (lists as lists) and what is wrong, by column."""
    content = dict(values)
    position = content.pop("position")
    names = [*COLUMNS[table], *(name for name in content if name not in COLUMNS[table])]
    # A problem names the line of its value: here every column is a line of its own.
    row = Row("", None, content, {name: line for line, name in enumerate(names)})
    values, row_problems = check_row(table, row)
    problems: Problems = {}
    for problem in row_problems:
        both = Problem(problem.message, problem.short_message)
        problems.setdefault(names[problem.line or 0], []).append(both)
    if type(position) is not int or not 0 <= position <= _POSITION_LIMIT:
        message = gettext("position must be a whole number from 0 to {limit}")
        problems["position"] = [Problem.of(message.format(limit=f"{_POSITION_LIMIT:,}"))]
    values = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
    return {**values, "position": position}, problems
