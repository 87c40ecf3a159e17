"""Knowledge bundles: reading them from disk, all their errors at once, and what they become.

Nothing here touches a database, so a bundle can be checked and used without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

from ieim.knowledge import wording
from ieim.knowledge.bundles.columns import COLUMNS, EXAMPLES_LIMIT, Values, check_row, opens
from ieim.knowledge.bundles.formats import READERS, Reader, read_yaml_bundle
from ieim.knowledge.bundles.questions import misplaced
from ieim.knowledge.bundles.references import References
from ieim.knowledge.bundles.rows import (
    IDENTITY,
    OPTIONAL,
    TABLES,
    BundleError,
    BundleProblem,
    Row,
    Table,
)
from ieim.knowledge.bundles.situations import SituationRow
from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import (
    Agency,
    CaseText,
    Category,
    ExampleQuestion,
    HelpLine,
    Label,
    Release,
    RiskExample,
    Service,
    Translation,
)
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.structured import READERS as STRUCTURED

__all__ = ["Bundle", "BundleError", "BundleProblem", "bundle_of", "default_labels", "read_bundle"]

Entry: TypeAlias = (
    Agency
    | Category
    | Service
    | Label
    | HelpLine
    | RiskExample
    | CaseText
    | SituationRow
    | Translation
    | ExampleQuestion
)
"""A checked row of a table, in the order of :data:`TABLES`."""

Content: TypeAlias = dict[str, list[dict[str, Any]]]
"""A bundle as JSON: the tables, every row with all its columns, in the bundle's order.

A table that a bundle may do without is there only where it has a row."""

Localized = TypeVar("Localized", Translation, HelpLine, CaseText, ExampleQuestion)

_TYPES: Mapping[Table, type] = dict(zip(TABLES, get_args(Entry), strict=True))
_DEFAULT_LABELS = Path(__file__).parent / "labels.yaml"


@dataclass(frozen=True)
class Bundle:
    """A checked bundle: ids are unique, and every reference has what it refers to.

    ``own_labels`` says whether the labels came with it; otherwise they are the default sets.
    """

    agencies: tuple[Agency, ...]
    dictionary: tuple[Category, ...]
    services: tuple[Service, ...]
    labels: tuple[Label, ...]
    own_labels: bool
    translations: tuple[Translation, ...] = ()
    help_lines: tuple[HelpLine, ...] = ()
    risk_examples: tuple[RiskExample, ...] = ()
    texts: tuple[CaseText, ...] = ()
    situations: tuple[SituationRow, ...] = ()
    questions: tuple[ExampleQuestion, ...] = ()

    @property
    def content(self) -> Content:
        """The bundle as JSON values; a threshold is a string with two decimals, or None. What
        services, translations and questions have had later is there only where it was written."""
        content: Content = {table: list(map(asdict, getattr(self, table))) for table in TABLES}
        for label in content["labels"]:
            label["threshold"] = None if label["threshold"] is None else str(label["threshold"])
        for row in (*content["agencies"], *content["services"]):
            # They came later: without them a release has the digest that it always had.
            for name in ("next_services", "deadline_days", "read_on", *STRUCTURED):
                if not row.get(name):
                    row.pop(name, None)
        for row in (*content["translations"], *content["questions"]):
            if not row["situation"]:
                del row["situation"]
                row.pop("conditions", None)
            if not row.get("stale"):
                row.pop("stale", None)
        always = ("agencies", "dictionary", "services", "labels")
        return {table: rows for table, rows in content.items() if rows or table in always}

    @property
    def warnings(self) -> list[str]:
        """What a citizen will miss, a sentence each: worth a look, no reason to stop."""
        no_overview = [service for service in self.services if not service.overview.strip()]
        no_link = [service for service in self.services if service.url and not opens(service.url)]
        return [
            *_warning(no_overview, "no overview: the answer cannot say what it is"),
            *_warning(no_link, "a link that does not open: write the whole address"),
        ]

    @classmethod
    def from_content(cls, content: Mapping[str, Sequence[Mapping[str, Any]]]) -> Bundle:
        """Return the bundle whose :attr:`content` this is, unchecked; its labels count as own."""
        return _build({table: [dict(row) for row in content.get(table, ())] for table in TABLES})

    def release(self, number: int = 0) -> Release:
        """Return the bundle as a release; its ``sha256`` is over the canonical :attr:`content`.

        Languages have the codes of the language detector: ``tl`` for ``fil``.
        """
        labels: dict[str, dict[str, Label]] = {}
        for label in self.labels:
            labels.setdefault(label.set, {})[label.code] = label
        references = {s.reference: (s.agency, s.key) for s in self.services}
        entries = (*self.agencies, *self.services)
        structured = any(getattr(entry, name, ()) for entry in entries for name in STRUCTURED)
        return Release(
            number=number,
            sha256=digest(self.content),
            agencies={agency.id: agency for agency in self.agencies},
            categories={(entry.agency, entry.key): entry for entry in self.dictionary},
            services={(service.agency, service.key): service for service in self.services},
            labels=labels,
            translations=tuple(map(_with_normal_language, self.translations)),
            help_lines=tuple(map(_with_normal_language, self.help_lines)),
            risk_examples=self.risk_examples,
            texts=tuple(map(_with_normal_language, self.texts)),
            situations={row.key: row.situation(references) for row in self.situations},
            questions=tuple(map(_with_normal_language, self.questions)),
            wording=wording.configured() if structured else None,
        )


def read_bundle(path: Path | str) -> Bundle:
    """Read a bundle: a folder with a file a table, or one YAML file with such keys.

    A folder has ``agencies``, ``dictionary``, ``services`` and, if it likes, the other tables, each
    with one of the endings of :data:`READERS`; other files are not looked at.

    Raises:
        BundleError: With every error that can be found.
    """
    path = Path(path)
    if path.is_dir():
        tables, problems = _read_folder(path)
    elif path.suffix in {".yaml", ".yml"} and path.is_file():
        tables, problems = _read_file(path)
    else:
        problem = "is no folder and no YAML file" if path.exists() else "does not exist"
        message = f"{problem}: give the path of a bundle's folder, or of one .yaml file"
        raise BundleError([BundleProblem(str(path), None, message)])
    return bundle_of(tables, problems=problems, file=str(path))


def bundle_of(
    tables: Mapping[Table, Sequence[Row]],
    *,
    problems: Sequence[BundleProblem] = (),
    file: str = "bundle",
) -> Bundle:
    """Check ``tables`` and return the bundle; without a label the default sets apply.

    ``file`` is what a problem of the whole is about.

    Raises:
        BundleError: For ``problems`` (from reading) and for every one found here.
    """
    errors = list(problems)
    checked: dict[Table, list[tuple[Row, Values]]] = {}
    for table in TABLES:
        checked[table] = []
        for row in tables.get(table, ()):
            values, row_problems = check_row(table, row)
            checked[table].append((row, values))
            errors.extend(row_problems)
        errors.extend(_duplicates(table, checked[table]))
    good = {table: [values for _, values in rows] for table, rows in checked.items()}
    labels = good["labels"] or map(asdict, default_labels())
    references = References(
        agencies={row["id"] for row in good["agencies"]} if "agencies" in tables else None,
        categories=_pairs(good["dictionary"]) if "dictionary" in tables else None,
        services=_pairs(good["services"]) if "services" in tables else None,
        flags={label["code"] for label in labels if label["set"] == "risk_flags"},
        situations={row["key"] for row in good["situations"]},
    )
    for table in TABLES:
        for row, values in checked[table]:
            errors.extend(
                BundleProblem(row.file, row.line_of(column), sentence)
                for column, sentence in references.dangling(values)
            )
    errors.extend(misplaced(checked["questions"]))
    if len(good["risk_examples"]) > EXAMPLES_LIMIT:
        many = f"has {len(good['risk_examples']):,} risk_examples: {EXAMPLES_LIMIT} is the limit"
        errors.append(BundleProblem(file, None, many))
    if not good["agencies"] and not errors:
        errors.append(BundleProblem(file, None, "is empty: a bundle has at least one agency"))
    if errors:
        raise BundleError(errors)
    return _build(good)


@lru_cache(maxsize=1)
def default_labels() -> tuple[Label, ...]:
    """Return the label sets that apply when a bundle brings none."""
    reader = Reader.of_path(_DEFAULT_LABELS)
    READERS[_DEFAULT_LABELS.suffix](reader)
    return tuple(Label(**check_row("labels", row)[0]) for row in reader.rows)


def _build(tables: Mapping[Table, Sequence[Values]]) -> Bundle:
    rows: dict[str, tuple[Any, ...]] = {
        table: tuple(_TYPES[table](**_frozen(values)) for values in tables[table])
        for table in TABLES
    }
    labels = rows.pop("labels") or default_labels()
    return Bundle(labels=labels, own_labels=bool(tables["labels"]), **rows)


def _frozen(values: Values) -> Values:
    frozen = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    if frozen.get("threshold") is not None:
        frozen["threshold"] = Decimal(frozen["threshold"])
    return frozen


def _pairs(rows: Sequence[Values]) -> set[tuple[str, str]]:
    return {(values["agency"], values["key"]) for values in rows}


def _duplicates(table: Table, checked: Sequence[tuple[Row, Values]]) -> Iterator[BundleProblem]:
    """Yield rows that another has the identity of."""
    first: dict[tuple[str, ...], Row] = {}
    columns = IDENTITY[table]
    for row, values in checked:
        identity = tuple(values[column] for column in columns)
        if not all(values[c] for c in columns if COLUMNS[table][c].is_required()):
            continue
        before = first.setdefault(identity, row)
        if before is not row:
            names = " and ".join(column for column in columns if values[column])
            label = " ".join(filter(None, identity))
            position = before.file if before.line is None else f"line {before.line}"
            message = f"has the same {names} as {position} ({label[:200]!r}): make it different"
            yield BundleProblem(row.file, row.line_of(columns[-1]), message)


def _with_normal_language(text: Localized) -> Localized:
    return replace(text, language=detected_code(text.language))


def _warning(services: Sequence[Service], has: str) -> Iterator[str]:
    if services:
        few = ", ".join(f"{service.agency} {service.key}" for service in services[:5])
        ellipsis = ", ..." if len(services) > 5 else ""
        many = "1 service has" if len(services) == 1 else f"{len(services):,} services have"
        yield f"{many} {has} ({few}{ellipsis})."


def _read_folder(path: Path) -> tuple[dict[Table, Sequence[Row]], list[BundleProblem]]:
    tables: dict[Table, Sequence[Row]] = {}
    problems: list[BundleProblem] = []
    for table in TABLES:
        files = [file for ending in READERS if (file := path / f"{table}{ending}").is_file()]
        if len(files) > 1:
            names = " and ".join(file.name for file in files)
            problems.append(BundleProblem(str(path), None, f"has {names}: keep one of them"))
        elif files:
            reader = Reader.of_path(files[0])
            READERS[files[0].suffix](reader)
            tables[table] = reader.rows
            problems.extend(reader.problems)
        elif table not in OPTIONAL:
            endings = ", ".join(READERS)
            message = f"has no {table} file: add {table} with one of the endings {endings}"
            problems.append(BundleProblem(str(path), None, message))
    return tables, problems


def _read_file(path: Path) -> tuple[dict[Table, Sequence[Row]], list[BundleProblem]]:
    readers = read_yaml_bundle(path)
    problems = [problem for reader in readers.values() for problem in reader.problems]
    if not readers[""].problems:
        problems.extend(
            BundleProblem(str(path), None, f"has no key {table!r}: add it, with a list of rows")
            for table in TABLES
            if table not in readers and table not in OPTIONAL
        )
    return {table: readers[table].rows for table in TABLES if table in readers}, problems
