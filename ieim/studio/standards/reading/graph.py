"""A JSON-LD file as nodes that know each other. Nothing is fetched, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from ieim.pipeline.findings import pointer
from ieim.studio.standards.reading.texts import plain
from ieim.studio.standards.reading.vocabularies import Context
from ieim.studio.standards.report import Report

_LANGUAGE_KEY = re.compile(r"[a-z]{2}(?:-[A-Za-z0-9]{2,8})*", re.ASCII)


@dataclass(slots=True)
class Literal:
    """A text at a JSON Pointer; ``language`` is a code of ISO 639, "" where none is given.

    ``address`` is that of the node which it may stand for.
    """

    raw: str
    language: str
    at: str
    address: str = ""
    _clean: str | None = None

    def text(self, report: Report) -> str:
        """Return the text without markup; that there was some is told once."""
        if self._clean is None:
            self._clean = plain(self.raw, self.at, report)
        return self._clean


@dataclass(slots=True)
class Ref:
    """The address of a node, which may be in the file or not."""

    address: str
    at: str


@dataclass(slots=True, eq=False)
class Node:
    """A node: its address ("" for none), types and properties by known name.

    ``read`` has the properties that somebody looked at, None as long as nobody reached the node.
    """

    address: str
    at: str
    inside: bool
    types: set[str] = field(default_factory=set)
    values: dict[str, list[Value]] = field(default_factory=dict)
    read: set[str] | None = None


Value: TypeAlias = Literal | Ref | Node


class Graph:
    """The nodes of a file, in its order; those with one address are one."""

    def __init__(self, value: Any, report: Report) -> None:
        self.report = report
        self.nodes: list[Node] = []
        self.language = ""
        self._known: dict[str, Node] = {}
        self._items(value, Context(), "")

    def node(self, value: Value) -> Node | None:
        """Return the node that a value is, or stands for."""
        if isinstance(value, Node):
            return value
        return self._known.get(value.address or "")

    def values(self, node: Node, *names: str) -> Iterator[Value]:
        """Yield the values of properties of ``node``, which counts as read."""
        node.read = node.read if node.read is not None else set()
        for name in names:
            node.read.add(name)
            yield from node.values.get(name, ())

    def tell_rest(self) -> None:
        """Note every property that nobody has read, and every node that nobody reached."""
        for node in self.nodes:
            if node.read is None:
                if not node.inside and (node.values or node.types):
                    kind = ", ".join(sorted(node.types)) or "node without a type"
                    self.report.left_out(node.at, f"no service leads to it ({kind})")
                continue
            for name, values in node.values.items():
                for value in values if name not in node.read else ():
                    self.report.left_out(value.at, f"the index has no place for {name}")

    def _items(self, value: Any, context: Context, at: str) -> None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._items(item, context, at + pointer(index))
        elif isinstance(value, dict):
            self._node(value, context, at, inside=False)
        else:
            self.report.problem(at, "is no JSON object: a node of JSON-LD is expected here")

    def _node(self, value: dict[str, Any], context: Context, at: str, *, inside: bool) -> Node:
        if "@context" in value:
            context = context.extended(value["@context"], at + "/@context", self.report)
            if not inside:
                self.language = self.language or _language(context.language)
        address, found = "", Node("", at, inside)
        for key, item in value.items():
            name = context.name(key)
            if name == "@id" and isinstance(item, str):
                address = context.address(item)
            elif name == "@type":
                types = item if isinstance(item, list) else [item]
                found.types.update(context.name(t) for t in types if isinstance(t, str))
            elif name in ("@graph", "@included"):
                self._items(item, context, at + pointer(key))
            elif name == "@reverse":
                self.report.left_out(at + pointer(key), "a reverse property")
            elif not name.startswith("@"):
                values = self._values(item, context, key, at + pointer(key))
                found.values.setdefault(name, []).extend(values)
        return self._joined(address, found)

    def _joined(self, address: str, found: Node) -> Node:
        found.address = address
        node = self._known.setdefault(address, found) if address else found
        if node is found:
            if found.types or found.values:
                self.nodes.append(found)
            elif address:
                # A node without anything only refers to one.
                del self._known[address]
            return found
        node.types |= found.types
        node.inside = node.inside and found.inside
        for name, values in found.values.items():
            node.values.setdefault(name, []).extend(values)
        return node

    def _values(self, item: Any, context: Context, key: str, at: str) -> Iterable[Value]:
        term = context.terms.get(key)
        language = context.language if term is None or term.language is None else term.language
        if isinstance(item, list):
            for index, each in enumerate(item):
                yield from self._values(each, context, key, at + pointer(index))
        elif isinstance(item, str):
            links = context.cpsv if term is None else term.links
            yield Literal(item, _language(language), at, context.address(item) if links else item)
        elif isinstance(item, bool | int | Decimal):
            yield Literal(str(item), "", at)
        elif isinstance(item, dict):
            containers = term.containers if term else frozenset()
            yield from self._object(item, context, key, at, containers)

    def _object(
        self, item: dict[str, Any], context: Context, key: str, at: str, containers: frozenset[str]
    ) -> Iterable[Value]:
        names = {context.name(inner): inner for inner in item}
        if "@value" in names:
            yield from self._value_object(item, names, context, at)
        elif "@list" in names or "@set" in names:
            inner = names.get("@list", names.get("@set", ""))
            yield from self._values(item[inner], context, key, at + pointer(inner))
        elif "@language" in containers or ("@id" not in names and _is_language_map(item)):
            for tag, texts in item.items():
                for index, text in enumerate(texts if isinstance(texts, list) else [texts]):
                    here = at + pointer(tag) + (pointer(index) if isinstance(texts, list) else "")
                    if isinstance(text, str):
                        yield Literal(text, _language(tag), here)
        elif containers & {"@index", "@id", "@type", "@graph"}:
            for index_key, inner_item in item.items():
                yield from self._values(inner_item, context, "", at + pointer(index_key))
        elif set(names) == {"@id"} and isinstance(item[names["@id"]], str):
            yield Ref(context.address(item[names["@id"]]), at)
        else:
            yield self._node(item, context, at, inside=True)

    def _value_object(
        self, item: dict[str, Any], names: dict[str, str], context: Context, at: str
    ) -> Iterable[Value]:
        text = item[names["@value"]]
        tag = item.get(names.get("@language", ""), "")
        if isinstance(text, str | bool | int | Decimal):
            yield Literal(str(text), _language(tag if isinstance(tag, str) else ""), at)
        elif text is not None:
            self.report.left_out(at, "a value that is no text")


def _language(tag: str) -> str:
    """Return the language of a tag without its region or script."""
    language = tag.lower().partition("-")[0]
    return "" if language in ("@none", "und") else language


def _is_language_map(item: dict[str, Any]) -> bool:
    # Strictly, a context has to say so. Many files do not, and no property has such a name.
    return (
        bool(item)
        and set(item) != {"id"}
        and all(_LANGUAGE_KEY.fullmatch(key) for key in item)
        and all(isinstance(value, str | list) for value in item.values())
    )
