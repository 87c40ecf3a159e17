"""The Makefile: which Python it takes, and what it says it can do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.checks import ROOT

pytestmark = pytest.mark.skipif(
    subprocess.run(["sh", "-c", "command -v make"], capture_output=True).returncode != 0,
    reason="make is not installed",
)


def make(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["make", "-f", str(ROOT / "Makefile"), *arguments],
        cwd=folder,
        # As from a shell, also where `make test` runs this.
        env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def python(folder: Path, major: int, minor: int) -> str:
    """A program that says it is another Python; making an environment does nothing."""
    path = folder / f"python{major}.{minor}"
    version = f"import sys; sys.version_info = ({major}, {minor}, 0)"
    path.write_text(
        f"#!/bin/sh\n[ \"$1\" = -m ] || exec {sys.executable} -c \"{version}; exec('''$2''')\"\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("minor", [11, 12, 14])
def test_it_takes_python_3_11_and_newer(tmp_path: Path, minor: int) -> None:
    code, result = make(tmp_path, ".venv/bin/python", f"PYTHON={python(tmp_path, 3, minor)}")
    assert (code, result) == (0, "")


def test_it_refuses_an_older_python(tmp_path: Path) -> None:
    old = python(tmp_path, 3, 10)
    code, result = make(tmp_path, ".venv/bin/python", f"PYTHON={old}")
    assert code != 0
    assert f"{old} is older than Python 3.11. Name another: make PYTHON=" in result


def test_it_says_what_to_do_without_any(tmp_path: Path) -> None:
    code, result = make(tmp_path, ".venv/bin/python", "PYTHON=no-such-python")
    assert code != 0
    assert "Python 3.11 or newer is needed." in result


def test_it_lists_its_checks() -> None:
    code, result = make(ROOT, "help")
    assert code == 0
    for target in ("make check ", "make test ", "make test-all "):
        assert target in result


@pytest.mark.parametrize("umask", [0o002, 0o077])
def test_what_it_delivers_its_owner_alone_may_write_and_everybody_read(
    tmp_path: Path, umask: int
) -> None:
    """Also where git's own ``tar.umask`` is set to that of who makes the archive."""
    names = ["pyproject.toml", "ieim/code.py", "static/build/citizen.css"]
    names += [f"{part}locale/de/LC_MESSAGES/django.mo" for part in ("", "ieim/config/")]
    before = os.umask(umask)
    try:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text('version = "1.2.3"\n', encoding="utf-8")
        git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
        for arguments in (["init"], ["add", *names[:2]], ["commit", "--message=All"]):
            subprocess.run([*git, *arguments], cwd=tmp_path, check=True, capture_output=True)
        subprocess.run(["git", "config", "tar.umask", "user"], cwd=tmp_path, check=True)
        code, result = make(tmp_path, "--old-file=setup", "dist")
        assert code == 0, result
        subprocess.run(["git", "tag", "v1.2.3"], cwd=tmp_path, check=True)
        code, result = make(tmp_path, "--old-file=setup", "dist")
        assert code == 0, result
    finally:
        os.umask(before)
    # Of a commit without the release's tag: a version of its own, in the name and in the file.
    unreleased, released = sorted((tmp_path / "dist").glob("*.tar.gz"), reverse=True)
    assert released.name == "ieim-1.2.3.tar.gz"
    version = unreleased.name.removeprefix("ieim-").removesuffix(".tar.gz")
    assert re.fullmatch(r"1\.3\.0\.dev1\+g[0-9a-f]{7}", version)
    for file, expected in ((released, "1.2.3"), (unreleased, version)):
        with tarfile.open(file) as archive:
            modes = {entry.name: entry.mode for entry in archive}
            content = archive.extractfile(f"ieim-{expected}/pyproject.toml")
            assert content is not None
            assert content.read() == f'version = "{expected}"\n'.encode()
        assert {f"ieim-{expected}/{name}" for name in names} <= modes.keys()
        assert {f"{mode:o}" for mode in modes.values()} == {"644", "755"}
