"""What a file describes, whatever its standard, and how that becomes rows of the draft."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.studio.standards.reading.texts import fitted, slug
from ieim.studio.standards.report import Problem, Report, StandardError

Values: TypeAlias = dict[str, Any]
Identity: TypeAlias = tuple[str, ...]

_TWICE = "stands in the file before, with another text: the first one is used"


@dataclass(slots=True)
class Found:
    """An agency, a category or a service of a file.

    ``identifier`` is the file's own, ``agency`` that of the agency that it belongs to ("": it names
    none). ``values`` are columns, ``translations`` columns by language, ``at`` the JSON Pointer of
    columns that do not stand at ``pointer``; ``categories`` are identifiers.
    """

    identifier: str
    pointer: str
    values: Values
    agency: str = ""
    at: dict[str, str] = field(default_factory=dict)
    translations: dict[str, Values] = field(default_factory=dict)
    categories: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Finds:
    """All that a file describes; what stands in it more than once is put together."""

    standard: str
    report: Report
    agencies: dict[str, Found] = field(default_factory=dict)
    categories: dict[tuple[str, str], Found] = field(default_factory=dict)
    services: dict[tuple[str, str], Found] = field(default_factory=dict)

    def add_agency(self, found: Found) -> None:
        """Add an agency, or what was not known of it."""
        self._join(self.agencies.setdefault(found.identifier, found), found)

    def add_category(self, found: Found) -> None:
        """Add a category of an agency, or what was not known of it."""
        before = self.categories.setdefault((found.agency, found.identifier), found)
        self._join(before, found)

    def add_service(self, found: Found) -> None:
        """Add a service of an agency, or what was not known of it."""
        before = self.services.setdefault((found.agency, found.identifier), found)
        self._join(before, found)

    def _join(self, before: Found, found: Found) -> None:
        if before is found:
            return
        for column, value in found.values.items():
            if not before.values.get(column):
                before.values[column] = value
                before.at[column] = found.at.get(column, found.pointer)
            elif column == "contact":
                lines = [*before.values[column].split("\n"), *value.split("\n")]
                before.values[column] = "\n".join(dict.fromkeys(filter(None, lines)))
            elif value and before.values[column] != value:
                self.report.left_out(found.at.get(column, found.pointer), f"{column} {_TWICE}")
        for language, values in found.translations.items():
            kept = before.translations.setdefault(language, {})
            kept.update({name: value for name, value in values.items() if name not in kept})
        before.categories.extend(c for c in found.categories if c not in before.categories)


@dataclass(slots=True)
class Mapped:
    """Rows for the draft, in the file's order; a column that is not there stays as it is.

    ``pointers`` says where in the file each of them stands.
    """

    standard: str
    rows: dict[Table, dict[Identity, Values]]
    pointers: dict[tuple[Table, Identity], str]


def mapped(finds: Finds, *, into: str | None) -> Mapped:
    """Return what was found as rows.

    With ``into`` (an agency's id) only what is that agency's is taken; where the file names a
    single other agency, or none, that one stands for it. Raises :class:`StandardError` with every
    reason why that cannot be, and for services without an agency.
    """
    return _Mapping(finds, into).result()


class _Mapping:
    def __init__(self, finds: Finds, into: str | None) -> None:
        self._finds = finds
        self._report = finds.report
        self._result = Mapped(finds.standard, {}, {})
        services, categories = finds.services.values(), finds.categories.values()
        # Agencies that only a service names come after those that are described.
        named = {f.agency: f.pointer for f in (*services, *categories) if f.agency}
        named = {**named, **{key: found.pointer for key, found in finds.agencies.items()}}
        ids = _ids(named, self._report)
        self._agencies: dict[str, str] = self._chosen(ids, into)
        self._keys: dict[int, str] = {}
        for group in (services, categories):
            self._give_keys(group)

    def _chosen(self, ids: Mapping[str, str], into: str | None) -> dict[str, str]:
        if into is None:
            return dict(ids)
        own = [identifier for identifier, key in ids.items() if key == into] or list(ids)
        if len(own) > 1:
            few = ", ".join(list(ids.values())[:5])
            message = f"has {len(own):,} agencies and none of them is {into!r} ({few}, ...)"
            raise StandardError([Problem("", message)])
        return {"": into, **dict.fromkeys(own, into)}

    def _give_keys(self, group: Any) -> None:
        wanted: dict[str, dict[str, str]] = {}
        for found in group:
            wanted.setdefault(found.agency, {})[found.identifier] = found.pointer
        keys = {agency: _ids(names, self._report) for agency, names in wanted.items()}
        self._keys.update({id(found): keys[found.agency][found.identifier] for found in group})

    def result(self) -> Mapped:
        for identifier, found in self._finds.agencies.items():
            if self._belongs(found, identifier):
                self._add("agencies", found, {"id": self._agencies[identifier]}, {})
        for found in self._finds.categories.values():
            if self._belongs(found, found.agency):
                self._add_keyed("dictionary", "category", found)
        for found in self._finds.services.values():
            if self._belongs(found, found.agency):
                self._add_keyed("services", "service", found)
        self._report.check()
        return self._result

    def _belongs(self, found: Found, agency: str) -> bool:
        if agency in self._agencies:
            return True
        if agency:
            self._report.left_out(found.pointer, "belongs to an agency that was not chosen")
        else:
            self._report.problem(found.pointer, "names no agency: choose the one that it is for")
        return False

    def _add_keyed(self, table: Table, what: str, found: Found) -> None:
        agency, key = self._agencies[found.agency], self._keys[id(found)]
        if found.categories:
            known = self._finds.categories
            found.values["categories"] = list(
                dict.fromkeys(self._keys[id(known[found.agency, c])] for c in found.categories)
            )
        self._add(table, found, {"agency": agency, "key": key}, {what: key})

    def _add(self, table: Table, found: Found, names: Values, of: Values) -> None:
        """Add a row and its translations, for which ``of`` says what they are of."""
        values = {**names, **self._fitted(table, found, found.values)}
        if table == "services" and not values.get("name"):
            self._report.problem(found.pointer, "has no name: every service needs one")
        self._put(table, values, found)
        agency = names.get("agency") or names["id"]
        for language, texts in found.translations.items():
            fitting = self._fitted("translations", found, texts)
            if fitting:
                whole = {"language": language, "agency": agency, "category": "", "service": ""}
                self._put("translations", {**whole, **of, **fitting}, found)

    def _fitted(self, table: Table, found: Found, values: Values) -> Values:
        fitting = {
            name: fitted(table, name, value, found.at.get(name, found.pointer), self._report)
            for name, value in values.items()
        }
        return {n: v for n, v in fitting.items() if v and v != COLUMNS[table][n].blank}

    def _put(self, table: Table, values: Values, found: Found) -> None:
        identity = tuple(values[column] for column in IDENTITY[table])
        rows = self._result.rows.setdefault(table, {})
        if identity in rows:
            self._report.left_out(found.pointer, "has the id of another one: that one is used")
            return
        rows[identity] = values
        self._result.pointers[table, identity] = found.pointer


def _ids(identifiers: Mapping[str, str], report: Report) -> dict[str, str]:
    """Return an id for every identifier (with its pointer), which does not hang on their order."""
    plain = {identifier: _plain_id(identifier) for identifier in identifiers}
    shared: dict[str, list[str]] = {}
    for identifier, key in plain.items():
        shared.setdefault(key, []).append(identifier)
    found: dict[str, str] = {}
    for identifier, key in plain.items():
        if len(shared[key]) > 1 and key != identifier:
            key = f"{key}-{_digest(identifier)}"
            why = "another identifier has the same short id: a part of its digest was added to it"
            report.changed(identifiers[identifier], why)
        found[identifier] = key
    return found


def _plain_id(identifier: str) -> str:
    """Return the identifier itself where it can be an id, otherwise the end of it as one."""
    if "://" not in identifier and not any(COLUMNS["services"]["key"].read(identifier)[1]):
        return identifier
    parts: Iterator[str] = (
        slug(part) for part in reversed(identifier.replace("#", "/").split("/"))
    )
    return next(filter(None, parts), "")[:100] or _digest(identifier)


def _digest(identifier: str) -> str:
    return hashlib.sha256(identifier.encode()).hexdigest()[:8]
