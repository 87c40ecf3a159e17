"""Extraction of sentences to translate, for Babel's command line.

``babel.cfg`` names these functions for the templates and the files of wording; ``make messages``
runs ``pybabel`` over the sources and merges what is new into ``locale/``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from typing import IO, Any

import yaml
from babel.messages.extract import extract_python
from django.utils.translation.template import templatize

Extracted = tuple[int, Any, Any, list[str], str | None] | tuple[int, Any, Any, list[str]]
"""A result of an extraction method: line, function, sentences, comments, context."""


def extract_template(
    file: IO[bytes], keywords: Mapping[str, Any], tags: Collection[str], options: dict[str, Any]
) -> Iterator[Any]:
    """Yield the sentences of a Django template."""
    # Django reads a template as Python; what is indented there means nothing.
    lines = templatize(file.read().decode("utf-8")).split("\n")
    source = BytesIO("\n".join(line.lstrip() for line in lines).encode())
    yield from extract_python(source, keywords, tags, {"encoding": "utf-8"})


def extract_yaml(
    file: IO[bytes], keywords: Mapping[str, Any], tags: Collection[str], options: dict[str, Any]
) -> Iterator[Any]:
    """Yield every text of a YAML file of nested mappings."""

    def leaves(texts: Any) -> Iterator[str]:
        if isinstance(texts, dict):
            for value in texts.values():
                yield from leaves(value)
        else:
            yield str(texts)

    for sentence in leaves(yaml.safe_load(file)):
        yield 0, "gettext", sentence, []
