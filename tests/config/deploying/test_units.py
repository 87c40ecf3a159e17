"""deploy/systemd: the units are what systemd understands, and see little of the machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checks import ROOT
from tests.config.deploying.systemctl import settings

UNITS = ROOT / "deploy/systemd"
NAMES = (
    *("ieim-web@8001.service", "ieim-worker@1.service", "ieim-beat.service"),
    *("ieim-backup.service", "ieim-backup.timer", "ieim-seal.service", "ieim-seal.timer"),
    *("ieim-verify.service", "ieim-verify.timer"),
)
SERVICES = [name for name in NAMES if name.endswith(".service")]
MOST_EXPOSED = 20
"""Of systemd's 100; a unit that says nothing has 96."""

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is not installed"
)


def analyse(folder: Path, *arguments: str) -> str:
    """Return what systemd-analyze says of units in ``folder``."""
    done = subprocess.run(
        ["systemd-analyze", *arguments],
        cwd=folder,
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:", "SYSTEMD_COLORS": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return f"{done.returncode}\n{done.stdout}"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with programs that are here."""
    for file in UNITS.rglob("*.*"):
        if file.is_file():
            text = re.sub(r"/opt/ieim/current/\S+", "/bin/true", file.read_text(encoding="utf-8"))
            new = tmp_path / file.relative_to(UNITS)
            new.parent.mkdir(exist_ok=True)
            new.write_text(text.replace("/opt/ieim/current", "/tmp"), encoding="utf-8")  # noqa: S108
    return tmp_path


def test_systemd_understands_every_line(units: Path) -> None:
    assert analyse(units, "verify", *NAMES) == "0\n"
    with (units / "ieim-beat.service").open("a", encoding="utf-8") as file:
        file.write("[Service]\nNoNewPrivilege=yes\n")
    assert "Unknown key" in analyse(units, "verify", "ieim-beat.service")


@pytest.mark.parametrize("name", SERVICES)
def test_each_process_sees_little_of_the_machine(units: Path, name: str) -> None:
    (units / "etc/systemd").mkdir(parents=True)
    (units / "etc/systemd/system").symlink_to(units)
    rated = analyse(
        units, "security", "--offline=true", f"--root={units}", f"--threshold={MOST_EXPOSED}", name
    )
    assert rated.startswith("0\n"), rated


@pytest.mark.parametrize("name", SERVICES)
def test_each_runs_as_its_account_and_writes_its_folder(name: str) -> None:
    """As systemd reads it: a drop-in's user wins over the unit's, and folders add up."""
    unit = settings(name, UNITS)
    account = "ieim-audit" if name.startswith(("ieim-seal", "ieim-verify")) else "ieim"
    assert (unit["User"], unit["Group"]) == ([account], [account])
    assert unit["StateDirectory"] == [account]
    # What a unit says of itself, no drop-in says otherwise.
    template = re.sub("@.*", "@.service", name)
    specific, common = (
        set(re.findall(r"^(\w+)=", file.read_text(encoding="utf-8"), re.MULTILINE))
        for file in (UNITS / template, UNITS / "ieim-.service.d/hardening.conf")
    )
    assert specific.isdisjoint(common)


def test_they_start_what_the_image_starts() -> None:
    """uvicorn's options are safety (no proxy's headers, small frames): they are the same."""
    image = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8").partition("\nCMD ")[2]
    unit = (UNITS / "ieim-web@.service").read_text(encoding="utf-8")
    options = set(re.findall(r"--[a-z-]+", image))
    assert "--no-proxy-headers" in options
    assert options <= set(re.findall(r"--[a-z-]+", unit))
