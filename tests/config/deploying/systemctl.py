"""What `systemctl` does, as far as the commands of docs/installing.md need it: see machine.py.

It runs the units of the folder in ``MACHINE``, without what the kernel would keep them from.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

ROOT = Path(os.environ.get("MACHINE", "/"))
UNITS, RUNNING = ROOT / "etc/systemd/system", ROOT / "run"


REPEATED = ("Environment", "EnvironmentFile", "ExecStartPost", "StateDirectory")
"""Settings that add up; of others the last one counts, and a drop-in comes after its unit."""


def settings(name: str, units: Path = UNITS) -> dict[str, list[str]]:
    """Return the settings of a unit with its drop-ins; ``%i`` and ``%H`` are put in."""
    stem, _, kind = name.rpartition(".")
    template, at, instance = stem.partition("@")
    read: dict[str, list[str]] = defaultdict(list)
    drop_ins = sorted(units.glob("ieim-.service.d/*.conf")) if kind == "service" else []
    for file in (units / f"{template}{at}.{kind}", *drop_ins):
        text = file.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            key, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                before = read[key] if key in REPEATED else []
                read[key] = [*before, value.replace("%i", instance).replace("%H", "machine")]
    return read


def start(name: str) -> None:
    """Start a unit, and wait until it counts as started."""
    if name.endswith(".timer"):
        assert settings(name)["OnCalendar"], name
        return
    unit = settings(name)
    environment = os.environ | {"PGUSER": unit["User"][0]}
    pairs = [pair for line in unit["Environment"] for pair in line.split()]
    for file in unit["EnvironmentFile"]:
        pairs += Path(file).read_text(encoding="utf-8").splitlines()
    environment |= dict(pair.split("=", 1) for pair in pairs)
    # A variable that is not set is no argument.
    command = re.sub(r"\$(\w+)", lambda match: environment.get(match[1], ""), unit["ExecStart"][0])
    with (RUNNING / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            shlex.split(command),
            env=environment,
            cwd=unit["WorkingDirectory"][0],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    if unit["Type"] == ["oneshot"]:
        if process.wait():
            sys.exit(f"{name} failed: see {name}.log")
        return
    (RUNNING / f"{name}.pid").write_text(str(process.pid), encoding="utf-8")
    for post in unit["ExecStartPost"]:
        subprocess.run(shlex.split(post), check=True)


def stop(file: Path) -> None:
    """End what a file of :data:`RUNNING` names, and wait for it."""
    pid = int(file.read_text(encoding="utf-8"))
    file.unlink()
    with suppress(ProcessLookupError):
        ended = os.pidfd_open(pid)
        os.killpg(pid, signal.SIGTERM)
        # It is no child of ours, so there is nothing to wait for but this.
        select.select([ended], [], [], 60)
        os.close(ended)


def main(action: str, *names: str) -> None:
    """Do what was asked; what is not known is an error."""
    units = [name if "." in name else f"{name}.service" for name in names if name[0] != "-"]
    match action:
        case "daemon-reload":
            return
        case "enable" | "start":
            for name in units:
                start(name)
        case "stop":
            for name in units:
                stop(RUNNING / f"{name}.pid")
        case "restart":
            for name in units:
                stop(RUNNING / f"{name}.pid")
                start(name)
        case "reload" if units == ["nginx.service"]:
            subprocess.run(["nginx"], check=True)
        case _:
            sys.exit(f"systemctl {action}: not known here")


if __name__ == "__main__":
    main(*sys.argv[1:])
