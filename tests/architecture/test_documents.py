"""The pages for people who change the code say what is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import build_layers

ROOT = Path(__file__).resolve().parents[2]
CODE = ("ieim", "conversations", "review")
TOP = (*CODE, "benchmarks", "deploy", "docs", "requirements", "static", "templates", "tests")
"""Folders: what begins with one of them is a path, on whatever page it stands."""
FOR_CODERS = ("CONTRIBUTING.md", "docs/architecture.md")
"""Pages whose file names without a folder are ours as well."""
PAGES = (*FOR_CODERS, "README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))

LONGEST_PAGE = 120
MOST_FILES = 12
SEEN = {".py", ".html", ".scss", ".js"}
PRESCRIBED = {"management", "migrations"}
"""Folders that Django wants: they hold what it looks for, however much that is."""

PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
FILE = re.compile(r"\.?[\w-]+\.(?:example|ini|json|md|py|toml|txt|ya?ml)")


def paths(page: str) -> Iterator[str]:
    """What stands in backticks on a page and looks like a path in the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for quoted in re.findall(r"`([^`\n]+)`", text):
        first, slash, _ = quoted.partition("/")
        if PATH.fullmatch(quoted) and (
            (slash and first in TOP) or (page in FOR_CODERS and FILE.fullmatch(quoted))
        ):
            yield quoted


def packages() -> Iterator[Path]:
    """The folders of our code that Python imports, without the empty `ieim` itself."""
    for app in CODE:
        for init in sorted((ROOT / app).rglob("__init__.py")):
            below = init.parent.relative_to(ROOT)
            if below != Path("ieim") and not PRESCRIBED.intersection(below.parts):
                yield init.parent


@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_it_names_no_path_that_is_not_there(page: str) -> None:
    ours = {file.name for top in TOP for file in (ROOT / top).rglob("*") if file.is_file()}
    assert [path for path in paths(page) if not (ROOT / path).exists() and path not in ours] == []


@pytest.mark.parametrize("page", FOR_CODERS)
def test_it_has_paths_to_look_at(page: str) -> None:
    assert len(set(paths(page))) > 10


@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_it_links_to_no_page_that_is_not_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    here = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in here if not ((ROOT / page).parent / link).exists()] == []


def test_it_draws_the_layers_as_they_are() -> None:
    assert build_layers.main(["--check"]) == 0


def test_it_notices_a_picture_that_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "architecture.md"
    page.write_text(f"# Before\n{build_layers.BEGIN}\nold\n{build_layers.END}\nafter\n", "utf-8")
    monkeypatch.setattr(build_layers, "PAGE", page)
    assert build_layers.main(["--check"]) == 1
    assert "run python docs/build_layers.py" in capsys.readouterr().err
    assert "old" in page.read_text("utf-8")
    assert build_layers.main([]) == 0
    written = page.read_text("utf-8")
    assert "old" not in written
    assert re.findall(r"^[│▼] (\S+)", written, flags=re.MULTILINE) == build_layers.layers()
    assert (written.startswith("# Before\n"), written.endswith("\nafter\n")) == (True, True)
    assert build_layers.main(["--check"]) == 0


def test_it_draws_on_no_page_without_marks() -> None:
    with pytest.raises(ValueError, match="has no section"):
        build_layers.refreshed("# A page\n")


def test_the_architecture_takes_two_screens() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= LONGEST_PAGE


def test_every_package_says_what_it_is_in_its_first_line() -> None:
    silent = []
    for package in packages():
        source = (package / "__init__.py").read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(source), clean=False) or ""
        said = docstring.partition("\n")[0]
        if not (source.startswith(f'"""{said}') and said[:1].isupper() and said.endswith(".")):
            silent.append(str(package.relative_to(ROOT)))
    assert silent == []


def test_no_folder_has_more_files_than_one_takes_in_at_a_glance() -> None:
    folders = list(packages())
    for beside in ("templates", "static/src", "tests"):
        folders += [each for each in (ROOT / beside).rglob("*") if each.is_dir()]
    counted = {
        str(folder.relative_to(ROOT)): len(files)
        for folder in folders
        if (files := [each for each in folder.iterdir() if each.suffix in SEEN])
    }
    assert len(counted) > 100
    assert {name: number for name, number in counted.items() if number > MOST_FILES} == {}
