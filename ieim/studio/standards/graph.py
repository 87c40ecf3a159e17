"""The objects of a file as nodes, and reading their texts in one language at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from ieim.pipeline.findings import pointer
from ieim.studio.standards.report import Report
from ieim.studio.standards.texts import joined, labelled, one_line, plain

NAMES = ("name", "title", "prefLabel", "preferredLabel", "label", "text")
ABOUT = ("description",)
_LABELS = ("audienceType", *NAMES, *ABOUT, "code")


@dataclass(slots=True)
class Text:
    """A text as the file has it; ``language`` is a code of ISO 639, "" where none is given.

    ``plain`` is the text without markup, None as long as nobody has read it.
    """

    raw: str
    language: str = ""
    plain: str | None = None


@dataclass(slots=True, eq=False)
class Node:
    """An object of the file at the JSON Pointer ``pointer``, and its properties by name.

    ``address`` is its IRI, "" for none. ``nested`` nodes stand inside of others. ``reached`` says
    that somebody has read it, ``followed`` whose nodes were read.
    """

    pointer: str = ""
    address: str = ""
    nested: bool = True
    types: set[str] = field(default_factory=set)
    values: dict[str, list[Value]] = field(default_factory=dict)
    reached: bool = False
    followed: set[str] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """Whether the file only refers to it."""
        return not self.values and not self.types

    def pointer_of(self, name: str) -> str:
        """Return the JSON Pointer of a property."""
        return self.pointer + pointer(name.rstrip("/#").replace("#", "/").rpartition("/")[2])

    def has(self, *names: str) -> bool:
        return any(name in self.values for name in names)

    def walk(self) -> Iterator[Node]:
        """Yield the node and all that stand inside of it."""
        yield self
        for value in (value for values in self.values.values() for value in values):
            if isinstance(value, Node):
                yield from value.walk()

    def skip(self, *names: str) -> None:
        """Remove properties that only hold the file together: nobody misses them."""
        for name in names:
            self.values.pop(name, None)


Value: TypeAlias = Text | Node


def json_node(value: dict[str, Any], location: str, *, nested: bool = False) -> Node:
    """Return a JSON object as a node; null, and what is empty, is left out."""
    node = Node(location, nested=nested)
    for name, item in value.items():
        if values := list(_json_values(item, location + pointer(name))):
            node.values[name] = values
    return node


def _json_values(item: Any, location: str) -> Iterator[Value]:
    if isinstance(item, list):
        for index, inner in enumerate(item):
            yield from _json_values(inner, location + pointer(index))
    elif isinstance(item, dict) and item:
        yield json_node(item, location, nested=True)
    elif isinstance(item, str | int | Decimal) and item != "":
        yield Text(str(item))


class Reader:
    """Reads nodes in one language.

    ``language`` None is that of the originals: texts without a tag, in ``main``, or in a language
    that is none of ``others``, into which the file translates. A text that is not in ``language``
    is read as the original; ``translated`` becomes true when one was.
    """

    def __init__(
        self,
        report: Report,
        language: str | None = None,
        main: str = "",
        others: frozenset[str] = frozenset(),
    ) -> None:
        self.report = report
        self.language = language
        self.main = main
        self.translated = False
        self._others = others

    def chosen(self, languages: Sequence[str]) -> str | None:
        """Return which of ``languages`` is to be read, None for none of them."""
        originals = (code for code in languages if code not in self._others)
        original = next((code for code in ("", self.main, *originals) if code in languages), None)
        # What stands in for a missing original is no translation of it.
        if self.language is None or self.language not in languages or self.language == original:
            return original
        self.translated = True
        return self.language

    def texts(self, node: Node, *names: str) -> list[str]:
        """Return the texts of the first of these properties that has any, blank ones left out."""
        return next(filter(None, (list(self._texts(node, name)) for name in names)), [])

    def text(self, node: Node, *names: str) -> str:
        """Return the first of those texts, "" for none."""
        return next((text for name in names for text in self._texts(node, name)), "")

    def name(self, node: Node, *names: str) -> str:
        """Return a name; where there is no original, that of any language."""
        original = self.text(node, *names)
        if original or self.language is not None:
            return original
        values = ((name, value) for name in names for value in node.values.get(name, ()))
        texts = (self._plain(node, name, v) for name, v in values if isinstance(v, Text))
        return next((text for text in texts if text.strip()), "")

    def values(self, node: Node, *names: str) -> list[Value]:
        """Return the values of properties; whoever asks reads their nodes."""
        node.reached = True
        node.followed.update(names)
        return [value for name in names for value in node.values.get(name, ())]

    def nodes(self, node: Node, *names: str) -> list[Node]:
        """Return the nodes of properties; a reference to one that is not in the file is noted."""
        nodes: list[Node] = []
        for name in names:
            inner = [value for value in self.values(node, name) if isinstance(value, Node)]
            nodes.extend(value for value in inner if not value.is_empty)
            if self.language is None and any(value.is_empty for value in inner):
                self.report.left_out(node.pointer_of(name), "refers to what is not in the file")
        return nodes

    def labels(self, node: Node, *names: str) -> list[str]:
        """Return what the values of properties are called: texts, and the names of nodes."""
        labels: list[str] = []
        for name in names:
            labels.extend(self._texts(node, name))
            labels.extend(self.text(inner, *_LABELS) for inner in self.nodes(node, name))
        return [label for label in labels if label.strip()]

    def links(self, node: Node, *names: str) -> list[str]:
        """Return the links of properties: texts, and the addresses of nodes."""
        links: list[str] = []
        for value in self.values(node, *names):
            if isinstance(value, Text):
                value.plain = value.raw.strip()
                links.append(value.plain)
            else:
                inner = value.values.get("url", ()) if value.nested else ()
                links.extend(text.raw.strip() for text in inner if isinstance(text, Text))
                if value.address.startswith(("http://", "https://")):
                    links.append(value.address)
        return links

    def _texts(self, node: Node, name: str) -> Iterator[str]:
        node.reached = True
        values = [value for value in node.values.get(name, ()) if isinstance(value, Text)]
        language = self.chosen([value.language for value in values])
        for value in values:
            if value.language == language and (text := self._plain(node, name, value)).strip():
                yield text

    def _plain(self, node: Node, name: str, value: Text) -> str:
        if value.plain is None:
            value.plain = plain(value.raw, node.pointer_of(name), self.report)
        return value.plain


Part: TypeAlias = Callable[[Node, Reader], "Iterable[str]"]
"""Reads lines of a column from a node."""
Column: TypeAlias = Callable[[Node, Reader], "str | list[str]"]


def text(*names: str) -> Callable[[Node, Reader], str]:
    """Return the column of the first text of these properties."""
    return lambda node, reader: reader.text(node, *names)


def lines(*parts: Part) -> Callable[[Node, Reader], str]:
    """Return the column of a text, a line for each that ``parts`` read."""
    return lambda node, reader: joined(_read(parts, node, reader))


def entries(*parts: Part) -> Callable[[Node, Reader], list[str]]:
    """Return the column of a list of what ``parts`` read."""
    return lambda node, reader: [t for t in _read(parts, node, reader) if t.strip()]


def texts(*names: str, label: str = "", form: Callable[[str], str] = str) -> Part:
    """Read the texts of the first of these properties that has any, each as "label: text"."""
    return lambda node, reader: _labelled(label, map(form, reader.texts(node, *names)))


def items(*names: str, label: str = "") -> Part:
    """Read what the values of these properties are called, each as "label: text"."""
    return lambda node, reader: _labelled(label, reader.labels(node, *names))


def listed(*names: str, label: str = "") -> Part:
    """Read the same as one line, each once, between commas."""

    def read(node: Node, reader: Reader) -> Iterator[str]:
        labels = dict.fromkeys(map(one_line, reader.labels(node, *names)))
        yield labelled(label, ", ".join(labels))

    return read


def each(*names: str, of: Sequence[Part]) -> Part:
    """Read every node of these properties."""
    return lambda node, reader: [
        line for inner in reader.nodes(node, *names) for line in _read(of, inner, reader)
    ]


def _read(parts: Iterable[Part], node: Node, reader: Reader) -> Iterator[str]:
    for part in parts:
        yield from part(node, reader)


def _labelled(label: str, texts: Iterable[str]) -> list[str]:
    return [labelled(label, one_line(text)) if label else text for text in texts]


def note_unread(nodes: Iterable[Node], report: Report, *, no_loss: Collection[str] = ()) -> None:
    """Note every node that nobody reached, and every property of the others that nobody read, but
    for those in ``no_loss``."""
    why = "the index has no place for it"
    for node in nodes:
        if not node.reached and not node.nested:
            kind = ", ".join(sorted(node.types)) or "node without a type"
            report.left_out(node.pointer, f"no service leads to it ({kind})")
        for name, values in node.values.items() if node.reached else ():
            if name in no_loss:
                continue
            read = [value.plain is not None for value in values if isinstance(value, Text)]
            for _ in range(read.count(False)):
                first = "only the first one has a place"
                report.left_out(node.pointer_of(name), first if any(read) else why)
            for _ in values[len(read) :] if name not in node.followed else ():
                report.left_out(node.pointer_of(name), why)
