"""A process that lacks tables or the pages' files says what to run, and does not start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from pytest_django import Settings

from ieim.config import process
from tests.checks import PRODUCTION, ROOT, clean_environment
from tests.services import free_port

WEB = ("uvicorn", "ieim.config.asgi:application", "--port")
WORKER = ("celery", "-A", "ieim.config", "worker", "--pool", "threads")
MANIFESTED = "whitenoise.storage.CompressedManifestStaticFilesStorage"


def started(folder: Path, command: tuple[str, ...], extra: Mapping[str, str]) -> tuple[int, str]:
    """Run a process that has to end by itself; returns its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**clean_environment(), "IEIM_DATA_DIR": str(folder), **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("command", [(*WEB, "0"), WORKER], ids=["web", "worker"])
def test_it_does_not_start_without_tables(tmp_path: Path, command: tuple[str, ...]) -> None:
    code, result = started(tmp_path, command, {"IEIM_EMBEDDINGS": "none"})
    assert code != 0
    assert "Run `manage.py migrate`, then start again." in result
    assert "Traceback" not in result
    assert result.count("migrations have not been run") == 1


def test_it_does_not_start_without_the_pages_files(tmp_path: Path) -> None:
    if (ROOT / "staticfiles").exists():
        pytest.skip("the pages' files are laid out in this checkout: manage.py collectstatic")
    # Nothing listens on the database's port: that is no reason not to start.
    database = {"DATABASE_URL": f"postgresql://ieim@127.0.0.1:{free_port()}/ieim"}
    production = {**PRODUCTION, **database, "IEIM_EMBEDDINGS": "none"}
    code, result = started(tmp_path, (*WEB, "0"), production)
    assert code != 0
    assert "Run `manage.py collectstatic --noinput`, then start again." in result
    assert "Traceback" not in result


@pytest.mark.parametrize("laid_out", [True, False])
def test_it_looks_for_the_pages_files(tmp_path: Path, settings: Settings, laid_out: bool) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": MANIFESTED}}
    if laid_out:
        (tmp_path / "staticfiles.json").write_text(
            '{"version": "1.1", "paths": {}}', encoding="utf-8"
        )
    assert ("collectstatic" in process.missing_files()) is not laid_out


@pytest.mark.django_db
def test_it_starts_with_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "close", lambda: None)
    assert process.missing_tables() == ""


def test_a_database_that_does_not_answer_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_connection: object) -> None:
        raise OperationalError("no connection")

    monkeypatch.setattr(process, "MigrationExecutor", fails)
    monkeypatch.setattr(connection, "close", lambda: None)
    assert process.missing_tables() == ""
