"""The pages of three public repositories as their sites show them: HTML with a menu and a footer.

None of their texts is kept here: they are read from clones at the commits below.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title} | {site}</title></head>
<body><header><a href="/">{site}</a><nav><ul>{menu}</ul></nav></header>
<nav class="breadcrumb"><a href="/">{site}</a> &gt; {title}</nav>
<main>{h1}{body}</main>
<footer><ul>{menu}</ul><p>© {site}</p></footer></body></html>"""


@dataclass(frozen=True, slots=True)
class Site:
    """A repository (``owner/name`` on GitHub) at a commit, and what stands around its pages."""

    repository: str
    commit: str
    language: str
    name: str
    menu: tuple[str, ...]

    def clone(self, folder: Path) -> Path:
        """Return where its clone is looked for: in ``folder``, under the repository's name."""
        return folder / self.repository.rpartition("/")[2]


SITES = {
    "va": Site(
        "department-of-veterans-affairs/vagov-content",
        "4f78e0bfd7a4ecb5e2f4954271d01fe497f02760",
        "en",
        "VA.gov",
        ("Health care", "Disability", "Education", "Contact us", "Find a form"),
    ),
    "hamburg": Site(
        "MoDimGH/ReductionOfHallucinations",
        "72c40cf11df6c1e79023f85eaa16b7c4800b0f0c",
        "de",
        "hamburg.de",
        ("Behördenfinder", "Verkehr", "Kultur", "Kontakt", "Impressum"),
    ),
    "tenerife": Site(
        "clebap/cat-proc",
        "916065544fa15b1215096865bdb51723f868f0f1",
        "es",
        "Catálogo de procedimientos municipales de Tenerife",
        ("Inicio", "Buscador", "Fichas", "Contacto", "Aviso legal"),
    ),
}


class Missing(Exception):
    """A clone or its commit is not there; the message says how to get it."""


def html(site: Site, folder: Path, path: str) -> bytes:
    """Return a page of a site, from its clone in ``folder``.

    Raises:
        Missing: the clone is not there, or not at the commit.
    """
    front, text = _parts(_show(site, folder, path))
    title = front.get("heading") or front.get("title") or _in_menu(site, folder, path)
    # The site of Tenerife shows the name in its menu as the heading of a page that has none.
    has_own = not title
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    body += "".join(_links(front))
    menu = "".join(f'<li><a href="#">{escape(entry)}</a></li>' for entry in site.menu)
    return _PAGE.format(
        language=site.language,
        site=escape(site.name),
        title=escape(title or site.name),
        menu=menu,
        h1="" if has_own else f"<h1>{escape(title)}</h1>",
        body=body,
    ).encode()


def _show(site: Site, folder: Path, path: str) -> str:
    clone, source = site.clone(folder), f"{site.commit}:{path}"
    command = ["git", "-C", str(clone), "show", source]
    found = subprocess.run(command, capture_output=True, check=False) if clone.exists() else None
    if found is None or found.returncode:
        raise Missing(
            f"{site.repository} is not in {folder}, or has no {source}. Get it: "
            f"git clone https://github.com/{site.repository} {clone}"
        )
    return found.stdout.decode()


def _parts(source: str) -> tuple[dict[str, Any], str]:
    match = _FRONT_MATTER.match(source)
    return (yaml.safe_load(match[1]) or {}, match[2]) if match else ({}, source)


def _in_menu(site: Site, folder: Path, path: str) -> str:
    """Return what the menu of a MkDocs site calls a page, "" for other sites."""
    if not path.startswith("docs/"):
        return ""
    page = re.escape(path.removeprefix("docs/"))
    named = re.search(rf"^ *- (.+): {page}$", _show(site, folder, "mkdocs.yml"), re.MULTILINE)
    return named[1] if named else ""


def _links(front: dict[str, Any]) -> Iterator[str]:
    """Yield the lists of links that VA.gov makes of a page's front matter."""
    for group in (*front.get("hublinks", ()), *front.get("relatedlinks", ())):
        yield f"<h2>{escape(group.get('title') or group.get('heading') or '')}</h2><ul>"
        for link in group["links"]:
            label = escape(link.get("label") or link.get("title") or "")
            about = escape(link.get("description") or "")
            yield f'<li><a href="{escape(link["url"] or "")}">{label}</a> {about}</li>'
        yield "</ul>"
