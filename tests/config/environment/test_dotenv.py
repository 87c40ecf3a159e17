"""A file ``.env`` beside ``manage.py``: every process reads it, whatever starts it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks import ROOT, clean_environment

PROCESSES = (
    ("manage.py", "check"),
    ("-m", "celery", "-A", "ieim.config", "worker", "--pool", "threads"),
    ("-m", "celery", "-A", "ieim.config", "beat"),
    ("-m", "uvicorn", "ieim.config.asgi:application"),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that has such a file: all but what looks for it is linked, not copied."""
    package = tmp_path / "ieim"
    package.mkdir()
    for name in ("pyproject.toml", "conversations", "review"):
        (tmp_path / name).symlink_to(ROOT / name)
    for part in (ROOT / "ieim").iterdir():
        if part.name != "config":
            (package / part.name).symlink_to(part)
    shutil.copy(ROOT / "manage.py", tmp_path)
    shutil.copytree(ROOT / "ieim" / "config", package / "config")
    (tmp_path / ".env").write_text("IEIM_ENV=nonsense\nPORT=70000\n", encoding="utf-8")
    return tmp_path


def output(checkout: Path, *command: str, **environment: str) -> str:
    """What a process says that starts there without a variable but these, and has to refuse."""
    variables = {**clean_environment(), "IEIM_DATA_DIR": str(checkout / "var")}
    del variables["PYTHONPATH"], variables["DJANGO_SETTINGS_MODULE"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=checkout,
        env=variables | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("command", PROCESSES, ids=lambda command: " ".join(command[:5]))
def test_every_process_reads_it(checkout: Path, command: tuple[str, ...]) -> None:
    assert "IEIM_ENV is 'nonsense'" in output(checkout, *command)


def test_a_variable_of_the_process_wins(checkout: Path) -> None:
    refused = output(checkout, "manage.py", "check", IEIM_ENV="development")
    assert "IEIM_ENV" not in refused
    assert "PORT is '70000'" in refused


def test_who_names_the_settings_reads_none(checkout: Path) -> None:
    variables = {
        "DJANGO_SETTINGS_MODULE": "ieim.config.settings",
        "IEIM_SECOND_OPINION": "nonsense",
    }
    refused = output(checkout, "manage.py", "check", **variables)
    assert "IEIM_SECOND_OPINION" in refused
    assert "IEIM_ENV" not in refused
