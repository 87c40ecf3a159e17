"""Draw the layers in ``docs/architecture.md`` anew: ``python docs/build_layers.py``.

Drawn is what the import contract of the layers in ``pyproject.toml`` says, with the first line of
each package's docstring and its folders. With ``--check`` nothing is written: it exits with 1 where
the page is not up to date.
"""

from __future__ import annotations

import argparse
import ast
import sys
import textwrap
import tomllib
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- From here to the end mark: python docs/build_layers.py -->"
END = "<!-- end -->"

NO_ROOMS = frozenset({"management", "migrations", "templatetags"})
"""Folders that Django wants by these names: they say nothing about a layer."""
WIDTH = 106
"""Characters of a line, as many as a page on GitHub shows without scrolling."""


def layers(project: Path = ROOT / "pyproject.toml") -> list[str]:
    """Return the packages of the contract whose id is ``layers``, the highest first.

    Raises ValueError where the project has no such contract.
    """
    lint = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"]
    for contract in lint["contracts"]:
        if contract["id"] == "layers":
            return [str(name) for name in contract["layers"]]
    raise ValueError(f"{project} has no import contract with the id 'layers'.")


def summary(package: Path) -> str:
    """Return the first line of a package's docstring; raises ValueError where it has none."""
    source = (package / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source))
    if not docstring:
        raise ValueError(f"{package.relative_to(ROOT)}/__init__.py has no docstring.")
    return docstring.splitlines()[0]


def rooms(package: Path) -> list[str]:
    """Return the names of a package's own packages, in order of the alphabet."""
    found = {init.parent.name for init in package.glob("*/__init__.py")}
    return sorted(found - NO_ROOMS)


def picture(names: Sequence[str]) -> str:
    """Return the layers as text, with an arrow that shows which way imports may go."""
    wide = max(map(len, names)) + 3
    lines = []
    for name in names:
        package = ROOT.joinpath(*name.split("."))
        told = textwrap.wrap(summary(package), WIDTH - wide - 2)
        told += textwrap.wrap(" ".join(f"{room}/" for room in rooms(package)), WIDTH - wide - 2)
        lines += [f"{left:{wide}}{text}" for left, text in zip_longest([name], told, fillvalue="")]
    return "\n".join([*(f"│ {line}" for line in lines[:-1]), f"▼ {lines[-1]}"])


def refreshed(page: str) -> str:
    """Return ``page`` with the picture of today between its marks; ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"The page has no section from {BEGIN} to {END}.")
    return f"{before}{BEGIN}\n\n```text\n{picture(layers())}\n```\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or only check it; returns 1 for one that is not up to date, else 0."""
    parser = argparse.ArgumentParser(description="Draw the layers in docs/architecture.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when stale")
    only_check = parser.parse_args(arguments).check
    old = PAGE.read_text(encoding="utf-8")
    new = refreshed(old)
    if only_check and new != old:
        sys.stderr.write("docs/architecture.md is stale: run python docs/build_layers.py\n")
        return 1
    if not only_check:
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
