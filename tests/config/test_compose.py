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

from tests.checks import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = sorted(name for name, service in SERVICES.items() if service["image"] == "ieim")
STAYING = sorted(SERVICES.keys() - {"migrate"})
"""The services that do not end by themselves."""


def documented() -> list[str]:
    """The variables of .env.example."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    return re.findall(r"^#([A-Z0-9_]+)=", example, flags=re.MULTILINE)


def secrets(service: str) -> dict[str, str]:
    """The secrets of a service, by the name of the file that it finds each in."""
    given = [
        each if isinstance(each, dict) else {"source": each, "target": each}
        for each in SERVICES[service].get("secrets", [])
    ]
    return {each["target"]: each["source"] for each in given}


def test_it_runs_every_process() -> None:
    assert OURS == ["beat", "migrate", "seal", "web", "worker"]


@pytest.mark.parametrize("process", OURS)
def test_every_variable_reaches_every_process(process: str) -> None:
    handed_over = dict(SERVICES[process]["environment"])
    # Every role has an address of its own.
    assert handed_over.pop("DATABASE_URL_FILE") == "/run/secrets/database"
    assert sorted(handed_over) == sorted(set(documented()) - {"DATABASE_URL"})
    for name, value in handed_over.items():
        # Compose puts in what the operator has set, and what follows only where that is nothing.
        assert re.match(rf"\$\{{{name}:[-?]", value), (process, name, value)


def test_each_process_is_the_role_that_it_needs_and_the_seal_alone_has_its_key() -> None:
    roles = {name: secrets(name)["database"] for name in [*OURS, "backup"]}
    assert roles == {
        **dict.fromkeys(("web", "worker", "beat"), "database"),
        "migrate": "database-owner",
        **dict.fromkeys(("seal", "backup"), "database-audit"),
    }
    assert [name for name in SERVICES if "seal" in secrets(name)] == ["seal"]


@pytest.mark.parametrize("service", SERVICES)
def test_each_is_kept_within_bounds(service: str) -> None:
    says = SERVICES[service]
    assert says["cap_drop"] == ["ALL"]
    assert says["read_only"] is True
    assert set(says["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    assert says["logging"]["options"].keys() == {"max-size", "max-file"}
    if service in STAYING:
        assert says["healthcheck"]["test"]
    assert says["image"] == "ieim" or re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", says["image"])


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
            said = subprocess.run([*command, "version"], capture_output=True, text=True)
            if re.search(r"version v?([2-9]|[1-9]\d)\.\d", said.stdout):
                return command
    return []


@pytest.mark.skipif(not docker_compose(), reason="Docker Compose 2 is not installed")
@pytest.mark.parametrize("beside", [[], ["-f", str(DEPLOY / "telegram.yaml")]])
def test_compose_understands_it(beside: list[str], tmp_path: Path) -> None:
    names = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text("utf-8")))
    values = os.environ | dict.fromkeys([*names, "IEIM_TELEGRAM_TOKEN"], "https://localhost")
    command = [*docker_compose(), "-f", str(DEPLOY / "compose.yaml"), *beside, "config", "-q"]
    done = subprocess.run(command, cwd=tmp_path, env=values, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
