"""``python -m ieim.telegram``: how it starts, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ieim.telegram import environment
from tests import live
from tests.checks import ROOT
from tests.telegram.standin import TOKEN, telegram

GOOD = {
    "IEIM_TELEGRAM_TOKEN": TOKEN,
    "IEIM_TELEGRAM_BASE_URL": "https://ask.example.org",
    "IEIM_TELEGRAM_STATE": "telegram.sqlite3",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("IEIM_TELEGRAM_TOKEN", ""),
        ("IEIM_TELEGRAM_TOKEN", "no token"),
        ("IEIM_TELEGRAM_BASE_URL", ""),
        ("IEIM_TELEGRAM_BASE_URL", "http://ask.example.org"),
        ("IEIM_TELEGRAM_BASE_URL", "https://ask.example.org/api/"),
        ("IEIM_TELEGRAM_BASE_URL", "ask.example.org"),
        ("IEIM_TELEGRAM_BASE_URL", "https://[::1"),
        ("IEIM_TELEGRAM_API", "http://api.example.org"),
        ("IEIM_TELEGRAM_STATE", " "),
    ],
)
def test_it_says_what_is_wrong_with_a_setting(name: str, value: str) -> None:
    with pytest.raises(environment.Wrong, match=name):
        environment.read({**GOOD, name: value})


def test_its_settings_do_not_show_the_token() -> None:
    assert TOKEN not in repr(environment.read(GOOD))


def test_compose_sets_what_it_reads() -> None:
    read = yaml.safe_load((ROOT / "deploy" / "telegram.yaml").read_text("utf-8"))
    service = read["services"]["telegram"]
    assert service["environment"].keys() == GOOD.keys()
    assert service["command"][1:] == ["-m", "ieim.telegram"]


def started(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run it until it ends by itself."""
    own = {
        **live.base_environment(folder),
        **GOOD,
        "IEIM_TELEGRAM_STATE": str(folder / "s"),
        **more,
    }
    command = [sys.executable, "-m", "ieim.telegram"]
    return subprocess.run(
        command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=60, check=False
    )


def test_it_does_not_start_without_its_settings(tmp_path: Path) -> None:
    done = started(tmp_path, IEIM_TELEGRAM_TOKEN="", IEIM_TELEGRAM_STATE=str(tmp_path / "no" / "s"))
    assert done.returncode == 2
    assert done.stderr.startswith("IEIM_TELEGRAM_TOKEN: set it")
    done = started(tmp_path, IEIM_TELEGRAM_STATE=str(tmp_path / "no" / "s"))
    assert done.returncode == 2
    assert done.stderr.startswith("IEIM_TELEGRAM_STATE:")


def test_it_ends_where_telegram_does_not_know_its_bot(tmp_path: Path) -> None:
    with telegram() as stand_in:
        done = started(
            tmp_path, IEIM_TELEGRAM_API=stand_in.origin, IEIM_TELEGRAM_TOKEN="1:another-token"
        )
    assert done.returncode == 1
    assert "Telegram does not know this bot" in done.stderr
    assert "another-token" not in done.stderr


def test_it_ends_at_once_when_it_is_told_to(tmp_path: Path) -> None:
    with telegram() as stand_in:
        own = {**GOOD, "IEIM_TELEGRAM_STATE": str(tmp_path / "s")}
        environ = {
            **live.base_environment(tmp_path),
            **own,
            "IEIM_TELEGRAM_API": stand_in.origin,
        }
        with live.process(["ieim.telegram"], environ, tmp_path / "log") as child:
            # Nobody is at that address of IEIM; a picture needs nothing of it.
            stand_in.says(None, photo=[])
            with stand_in.changed:
                assert stand_in.changed.wait_for(lambda: bool(stand_in.texts), timeout=60)
            child.send_signal(signal.SIGTERM)
            assert child.wait(timeout=20) == 0
        said = (tmp_path / "log").read_text(encoding="utf-8")
        assert "started for https://ask.example.org" in said
        assert TOKEN not in said
