"""deploy/compose.yaml: what is set reaches every process, and each has what is its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ieim.audit.management.commands import verify_audit
from tests.checks import ROOT
from tests.config.environment.test_settings import django

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = sorted(name for name, service in SERVICES.items() if service["image"] == "ieim")
AUDIT = ["seal", "verify"]
"""Those of ours that are none of the site's."""
STAYING = sorted(SERVICES.keys() - {"migrate"})
"""The services that do not end by themselves."""


def documented() -> list[str]:
    """The variables of .env.example."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    return re.findall(r"^#([A-Z0-9_]+)=", example, flags=re.MULTILINE)


def secrets(service: str) -> dict[str, str]:
    """The secrets of a service, by the name of the file that it finds each in."""
    given = [
        entry if isinstance(entry, dict) else {"source": entry, "target": entry}
        for entry in SERVICES[service].get("secrets", [])
    ]
    return {entry["target"]: entry["source"] for entry in given}


def test_it_runs_every_process() -> None:
    assert OURS == ["beat", "migrate", "seal", "verify", "web", "worker"]


@pytest.mark.parametrize("process", [name for name in OURS if name not in AUDIT])
def test_every_variable_reaches_every_process_of_the_site(process: str) -> None:
    handed_over = dict(SERVICES[process]["environment"])
    # Every role has an address of its own.
    assert handed_over.pop("DATABASE_URL_FILE") == "/run/secrets/database"
    assert sorted(handed_over) == sorted(set(documented()) - {"DATABASE_URL"})
    for name, value in handed_over.items():
        # Compose puts in what the operator has set, and what follows only where that is nothing.
        assert re.match(rf"\$\{{{name}:[-?+]", value), (process, name, value)


@pytest.mark.parametrize("process", AUDIT)
def test_who_seals_or_verifies_has_nothing_of_the_sites_and_starts(
    process: str, tmp_path: Path
) -> None:
    given = SERVICES[process]["environment"]
    assert "${" not in str(given)
    database = tmp_path / "database"
    database.write_text("postgresql://ieim-audit:password@postgres:5432/ieim\n", encoding="utf-8")
    given = given | {"IEIM_ENV": "production", "DATABASE_URL_FILE": str(database)}
    code, result = django(tmp_path, given, "check")
    assert code == 0, result


def test_each_process_is_the_role_that_it_needs_and_the_seal_alone_has_its_key() -> None:
    roles = {name: secrets(name)["database"] for name in [*OURS, "backup"]}
    assert roles == {
        **dict.fromkeys(("web", "worker", "beat"), "database"),
        "migrate": "database-owner",
        **dict.fromkeys(("seal", "verify", "backup"), "database-audit"),
    }
    assert [name for name in SERVICES if "seal" in secrets(name)] == ["seal"]


@pytest.mark.parametrize(("fails", "healthy"), [(0, True), (1, False)])
def test_it_verifies_against_the_seals_and_is_healthy_while_the_record_holds(
    fails: int, healthy: bool, tmp_path: Path
) -> None:
    """What the service runs, up to its first sleep, which ends it here."""
    (tmp_path / "python").write_text(f'#!/bin/sh\necho "$@"\nexit {fails}\n', encoding="utf-8")
    (tmp_path / "sleep").write_text('#!/bin/sh\nkill "$PPID"\n', encoding="utf-8")
    for program in ("python", "sleep"):
        (tmp_path / program).chmod(0o755)

    def run(command: str) -> subprocess.CompletedProcess[str]:
        here = command.replace("$$", "$").replace("/tmp/", f"{tmp_path}/")  # noqa: S108 - its own
        env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-c", here], env=env, capture_output=True, text=True)

    parts = run(SERVICES["verify"]["command"][2]).stdout.split()
    assert parts[:3] == ["manage.py", "verify_audit", "--record"]
    parser = verify_audit.Command().create_parser("manage.py", "verify_audit")
    assert parser.parse_args(parts[2:]).seals == Path("/seals/seals")
    assert (run(SERVICES["verify"]["healthcheck"]["test"][1]).returncode == 0) is healthy


@pytest.mark.parametrize("service", SERVICES)
def test_each_is_kept_within_bounds(service: str) -> None:
    result = SERVICES[service]
    assert result["cap_drop"] == ["ALL"]
    assert result["read_only"] is True
    assert set(result["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert result["logging"]["options"].keys() == {"max-size", "max-file"}
    if service in STAYING:
        assert result["healthcheck"]["test"]
    assert result["image"] == "ieim" or re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", result["image"])


def test_the_proxy_reaches_the_web_process_alone() -> None:
    assert SERVICES["proxy"]["networks"] == ["front"]
    assert [name for name in SERVICES if "front" in SERVICES[name]["networks"]] == ["proxy", "web"]
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["proxy"]
    assert COMPOSE["networks"]["data"] == {"internal": True}
    for name in ("postgres", "redis"):
        assert SERVICES[name]["networks"] == ["data"]


def test_the_proxy_in_front_is_believed() -> None:
    assert SERVICES["web"]["environment"]["IEIM_TRUSTED_PROXIES"].endswith(":-1}")
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    # uvicorn would believe the name that stands furthest left, which anybody can write.
    assert "--no-proxy-headers" in dockerfile


def test_every_image_of_the_dockerfile_is_pinned() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    images = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert len(images) == 3
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images), images


def docker_compose() -> list[str]:
    """The command of Compose 2, empty where it is not here."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            completed = subprocess.run([*command, "version"], capture_output=True, text=True)
            if re.search(r"version v?([2-9]|[1-9]\d)\.\d", completed.stdout):
                return command
    return []


@pytest.mark.skipif(not docker_compose(), reason="Docker Compose 2 is not installed")
def test_compose_understands_it(tmp_path: Path) -> None:
    names = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text("utf-8")))
    values = os.environ | dict.fromkeys(names, "https://localhost")
    command = [*docker_compose(), "-f", str(DEPLOY / "compose.yaml"), "config", "-q"]
    done = subprocess.run(command, cwd=tmp_path, env=values, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
