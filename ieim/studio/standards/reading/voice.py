"""Reading the texts of nodes in one language at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ieim.studio.standards.reading.graph import Graph, Literal, Node, Ref

NAMES = ("schema:name", "dct:title", "skos:prefLabel", "rdfs:label", "schema:text")
ABOUT = ("schema:description", "dct:description")


class Voice:
    """Reads the texts of a graph's nodes in one language.

    ``language`` None is that of the originals: texts without a tag, in ``main``, or in a language
    that is none of ``others``, into which the file translates. A text that is not in ``language``
    is read as the original; ``hit`` becomes true when one was.
    """

    def __init__(
        self, graph: Graph, language: str | None, main: str, others: frozenset[str]
    ) -> None:
        self.graph = graph
        self.language = language
        self.hit = False
        self._main = main
        self._others = others

    def chosen(self, languages: Sequence[str]) -> str | None:
        """Return which of ``languages`` is to be read, None for none of them."""
        own = (each for each in languages if each not in self._others)
        original = next((each for each in ("", self._main, *own) if each in languages), None)
        # What stands in for a missing original is no translation of it.
        if self.language is None or self.language not in languages or self.language == original:
            return original
        self.hit = True
        return self.language

    def texts(self, node: Node, *names: str) -> list[str]:
        """Return the texts of the first of these properties that has any, blank ones left out."""
        for name in names:
            values = self.graph.values(node, name)
            chosen = self._chosen([value for value in values if isinstance(value, Literal)])
            texts = [literal.text(self.graph.report) for literal in chosen]
            if found := [text for text in texts if text.strip()]:
                return found
        return []

    def text(self, node: Node, *names: str) -> str:
        """Return the first of those texts; that there are more is told."""
        texts = self.texts(node, *names)
        if len(texts) > 1 and self.language is None:
            for name in names:
                for value in node.values.get(name, ())[1:]:
                    if isinstance(value, Literal) and value.language in ("", self._main):
                        self.graph.report.left_out(value.at, "only the first one has a place")
        return texts[0] if texts else ""

    def nodes(self, node: Node, *names: str) -> list[Node]:
        """Return the nodes of properties; the address of one that is not in the file is told."""
        found = []
        for value in self.graph.values(node, *names):
            inner = self.graph.node(value)
            if inner is not None:
                found.append(inner)
            elif isinstance(value, Ref) and self.language is None:
                self.graph.report.left_out(value.at, "refers to what is not in the file")
        return found

    def labels(self, node: Node, *names: str) -> list[str]:
        """Return what the values of properties are called: texts, and the names of nodes."""
        found: list[str] = []
        for name in names:
            inner = list(self.graph.values(node, name))
            literals = [v for v in inner if isinstance(v, Literal) and self.graph.node(v) is None]
            found.extend(v.text(self.graph.report) for v in self._chosen(literals))
            found.extend(self.label(each) for each in self.nodes(node, name))
        return [label for label in found if label.strip()]

    def name(self, node: Node, *names: str) -> str:
        """Return a name, for an original in any language where there is no other."""
        if name := self.text(node, *names):
            return name
        values = (v for v in self.graph.values(node, *names) if isinstance(v, Literal))
        texts = (value.text(self.graph.report) for value in values if self.language is None)
        return next((text for text in texts if text.strip()), "")

    def label(self, node: Node) -> str:
        """Return what a node is called, or else what is said about it."""
        return self.text(node, *NAMES, *ABOUT)

    def links(self, node: Node, *names: str) -> list[tuple[str, str]]:
        """Return the links of properties, each with its JSON Pointer."""
        found: list[tuple[str, str]] = []
        for value in self.graph.values(node, *names):
            if isinstance(value, Literal):
                found.append((value.raw.strip(), value.at))
            elif not isinstance(value, Ref):
                found.extend(self.links(value, "schema:url"))
            if not isinstance(value, Literal) and value.address.startswith(("http://", "https://")):
                found.append((value.address, value.at))
        return found

    def _chosen(self, literals: Sequence[Literal]) -> list[Literal]:
        language = self.chosen([literal.language for literal in literals])
        return [literal for literal in literals if literal.language == language]


def tags(graph: Graph, *names: str) -> set[str]:
    """Return every language that a text is tagged with, of these properties or of any."""
    return {
        value.language
        for node in graph.nodes
        for name in names or node.values
        for value in node.values.get(name, ())
        if isinstance(value, Literal) and value.language
    }
