"""deploy/compose.yaml: what an operator sets reaches every process."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.checks import ROOT

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))[
    "services"
]
OURS = sorted(name for name, service in SERVICES.items() if service["image"] == "ieim")


def documented() -> list[str]:
    """The variables of .env.example."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    return re.findall(r"^#([A-Z_]+)=", example, flags=re.MULTILINE)


def test_it_runs_every_process() -> None:
    assert OURS == ["beat", "migrate", "web", "worker"]


@pytest.mark.parametrize("process", OURS)
def test_every_variable_reaches_every_process(process: str) -> None:
    handed_over = SERVICES[process]["environment"]
    assert sorted(handed_over) == sorted(documented())
    for name, value in handed_over.items():
        # Compose puts in what the operator has set, and what follows only where that is nothing.
        assert re.match(rf"\$\{{{name}:[-?]", value), (process, name, value)


def test_the_proxy_in_front_is_believed() -> None:
    assert SERVICES["web"]["environment"]["IEIM_TRUSTED_PROXIES"].endswith(":-1}")
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    # uvicorn would believe the name that stands furthest left, which anybody can write.
    assert "--no-proxy-headers" in dockerfile
