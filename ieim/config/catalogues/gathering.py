"""What there is to translate: marked sentences of templates and code, and the files of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation import template as templates

CODE = ("conversations", "ieim", "review")
TEMPLATES = ("templates",)
WORDS = ("conversations/chat/wording.yaml", "ieim/knowledge/headings.yaml")

STAFF = (
    *("review/", "ieim/studio/", "ieim/people/", "ieim/knowledge/", "ieim/administration/"),
    *("templates/review/", "templates/studio/", "templates/knowledge/", "templates/admin/"),
    *("templates/registration/", "templates/base_staff.html", "templates/_pages.html"),
    *("templates/administration/settings.html", "templates/administration/preview.html"),
    "templates/administration/_field.html",
    "ieim/config/admin_site.py",
)
"""What only staff read, as paths begin. Every other file is the citizens': theirs in doubt."""

KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
    # What the core refuses: it knows no Django, and names its sentence this way.
    "NotTaken": None,
}
"""The functions whose arguments are sentences, as Babel takes them."""

_FIELD = re.compile(r"\{[a-z_]+\}")

Found = tuple[int, Any, list[str], str | None]


def gathered() -> Catalog:
    """Return what citizens read, with the files that it stands in, in the order of those files."""
    return _catalog(staff=False)


def gathered_for_staff() -> Catalog:
    """Return what only staff read: what they share with citizens is in the citizens' catalogues."""
    catalog = _catalog(staff=True)
    for message in gathered():
        own = catalog.get(message.id, message.context) if message.id else None
        if own and own.id == message.id:
            catalog.delete(message.id, message.context)
    return catalog


def _catalog(*, staff: bool) -> Catalog:
    root: Path = settings.BASE_DIR
    catalog = Catalog(project="IEIM", charset="utf-8", fuzzy=False)
    for path in _files(root):
        of_staff = path.suffix != ".yaml" and path.relative_to(root).as_posix().startswith(STAFF)
        if of_staff != staff:
            continue
        for _, message, comments, context in _messages(path):
            catalog.add(
                message,
                locations=[(path.relative_to(root).as_posix(), 0)],
                auto_comments=comments,
                context=context,
                flags=_flags(message),
            )
    return catalog


def _files(root: Path) -> Iterator[Path]:
    for folder in TEMPLATES:
        yield from sorted((root / folder).rglob("*.html"))
    for folder in CODE:
        yield from sorted((root / folder).rglob("*.py"))
    for name in WORDS:
        yield root / name


def _messages(path: Path) -> Iterable[Found]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yaml":
        return ((0, sentence, [], None) for sentence in _leaves(yaml.safe_load(text)))
    if path.suffix == ".html":
        # Django's own reading of a template, as Python; what is indented there means nothing.
        lines = templates.templatize(text, origin=path.name).split("\n")
        text = "\n".join(line.lstrip() for line in lines)
    source = BytesIO(text.encode())
    return extract("python", source, KEYWORDS, ("Translators:",), {"encoding": "utf-8"})


def _leaves(texts: Any) -> Iterator[str]:
    if isinstance(texts, dict):
        for each in texts.values():
            yield from _leaves(each)
    else:
        yield str(texts)


def _flags(message: str | tuple[str, ...]) -> list[str]:
    """Say which kind of placeholder there is: Babel sees the one of ``%`` by itself."""
    said = message if isinstance(message, str) else " ".join(message)
    return ["python-brace-format"] if _FIELD.search(said) else []
