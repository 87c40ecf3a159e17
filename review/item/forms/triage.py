"""Forms to correct triage: labels, facts and keys, each with words of the message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from ieim.pipeline.findings import pointer
from ieim.pipeline.knowledge import Label
from review.item.forms.base import SURE, Form, Invalid, Output, Problem

SPARE_ROWS = 2


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a form: a label, a value where the contract has one, and the words quoted.

    ``id`` is the beginning of the HTML ids of its fields; ``said`` are the label's name and the
    words of the model's answer where they were wrong, so that they are not filled in.
    """

    id: str
    label: str
    value: str
    quote: str
    said: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not (self.label or self.value or self.quote)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the same label set. ``codes`` are (code, name); ``by_value`` asks for a value."""

    name: str
    title: str
    codes: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    by_value: bool = False
    optional: bool = False


class RowForm(Form):
    """What the three forms share: rows that are posted as parallel lists."""

    template = "review/deciding/answering/rows.html"

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of rows in their order."""
        raise NotImplementedError

    def _group(
        self,
        name: str,
        title: str,
        label_set: str,
        said: Sequence[tuple[str, str, str, str]],
        *,
        most: int = 0,
        by_value: bool = False,
        optional: bool = False,
    ) -> Group:
        labels: Mapping[str, Label] = self.desk.release.labels.get(label_set, {})
        rows = self._of_model(name, said, labels)
        total = max(1, len(rows)) if most else len(rows) + SPARE_ROWS
        rows += [Row(f"{name}-{i}", "", "", "") for i in range(len(rows), total)]
        if self.posted:
            rows = self._posted(name, rows)
        codes = tuple((label.code, label.name) for label in labels.values())
        return Group(name, title, codes, tuple(rows), by_value, optional)

    def _posted(self, name: str, rows: Sequence[Row]) -> list[Row]:
        """Return the rows as they were filled in; what the model said stays beside them."""
        labels, quotes, values = (
            self.data.getlist(f"{name}-{part}") for part in ("label", "quote", "value")
        )
        return [
            replace(
                row,
                label=_at(labels, i),
                value=_at(values, i).strip(),
                quote=_at(quotes, i).strip(),
            )
            for i, row in enumerate(rows)
        ]

    def _of_model(
        self, name: str, said: Iterable[tuple[str, str, str, str]], labels: Mapping[str, Label]
    ) -> list[Row]:
        """Return the model's elements (path, label, value, quote): what was right is filled in."""
        rows = []
        for i, (path, label, value, quote) in enumerate(said):
            if not any(wrong == path or wrong.startswith(f"{path}/") for wrong in self.desk.wrong):
                rows.append(Row(f"{name}-{i}", label, value, quote))
                continue
            words = labels[label].name if label in labels else label
            model = " · ".join(filter(None, (words, value, f"“{quote}”" if quote else "")))
            rows.append(Row(f"{name}-{i}", "", "", "", model))
        return rows

    def filled(self, group: Group) -> list[Row]:
        """Return the rows that say something; raises :class:`Invalid` for half a row."""
        rows = [row for row in group.rows if not row.empty]
        problems = list(_half(group, rows))
        if not rows and not group.optional:
            problems.append(
                Problem(
                    gettext("Choose for “{title}”, with words of the message.").format(
                        title=group.title
                    ),
                    f"{group.name}-0-label",
                )
            )
        if problems:
            raise Invalid(*problems)
        return rows

    def field_of(self, path: str) -> str:
        names = path.split("/")
        place = names[2] if len(names) > 2 and names[2].isdigit() else "0"
        for group in self.groups:
            if names[1:2] == [group.name]:
                part = "quote" if "evidence_snippets" in path else "label"
                part = "value" if names[-1] in ("value_redacted", "key_value") else part
                return f"{group.name}-{place}-{part}"
        return f"{self.groups[0].name}-0-label"


def _at(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


def _half(group: Group, rows: Iterable[Row]) -> Iterator[Problem]:
    for row in rows:
        if not row.label:
            said = gettext("Choose a label for “{words}”.").format(words=row.quote or row.value)
            yield Problem(said, f"{row.id}-label")
        if not row.quote:
            said = gettext("Say which words show it ({title}).").format(title=group.title)
            yield Problem(said, f"{row.id}-quote")


def _elements(said: Any, name: str, label: str, value: str = "") -> list[tuple[str, str, str, str]]:
    """Return (path, label, value, first quote) of a list, or of one element, of an answer."""
    found = said.get(name, [])
    listed = found if isinstance(found, list) else [found]
    return [
        (
            pointer(name, i) if isinstance(found, list) else pointer(name),
            each[label],
            each.get(value, ""),
            (each["evidence_snippets"] or [""])[0],
        )
        for i, each in enumerate(listed)
    ]


class ClassifyForm(RowForm):
    """classify: what the citizen wants, about what, how urgent, and what is risky."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = {name: _elements(self.desk.said, name, "label") for name in self.NAMES}
        return (
            self._group("intents", gettext("What the citizen wants"), "intents", said["intents"]),
            self._group(
                "product_line",
                gettext("What it is about"),
                "product_lines",
                said["product_line"],
                most=1,
            ),
            self._group(
                "urgency", gettext("How urgent it is"), "urgencies", said["urgency"], most=1
            ),
            self._group(
                "risk_flags",
                gettext("Risks, if there are any"),
                "risk_flags",
                said["risk_flags"],
                optional=True,
            ),
        )

    NAMES = ("intents", "product_line", "urgency", "risk_flags")

    def payload(self) -> Output:
        intents, line, urgency, risks = map(self.filled, self.groups)
        return {
            "intents": [_label(row) for row in intents],
            "primary_intent": intents[0].label,
            "product_line": _label(line[0]),
            "urgency": _label(urgency[0]),
            "risk_flags": [_label(row) for row in risks],
        }


class ExtractForm(RowForm):
    """extract: facts of the message."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = _elements(self.desk.said, "entities", "entity_type", "value_redacted")
        return (
            self._group(
                "entities", gettext("Facts"), "entity_types", said, by_value=True, optional=True
            ),
        )

    def payload(self) -> Output:
        return {
            "entities": [
                {
                    "entity_type": row.label,
                    "value_redacted": row.value or row.quote,
                    "confidence": SURE,
                    "evidence_snippets": [row.quote],
                }
                for row in self.filled(self.groups[0])
            ]
        }


class IdentityForm(RowForm):
    """identity_assist: numbers and names that lead to a person or a case."""

    @property
    def groups(self) -> tuple[Group, ...]:
        said = _elements(self.desk.said, "keys", "key_type", "key_value")
        return (
            self._group(
                "keys",
                gettext("Numbers and names"),
                "key_types",
                said,
                by_value=True,
                optional=True,
            ),
        )

    def payload(self) -> Output:
        return {
            "keys": [
                {
                    "key_type": row.label,
                    "key_value": row.value or row.quote,
                    "evidence_snippets": [row.quote],
                }
                for row in self.filled(self.groups[0])
            ]
        }


def _label(row: Row) -> Output:
    return {"label": row.label, "confidence": SURE, "evidence_snippets": [row.quote]}
