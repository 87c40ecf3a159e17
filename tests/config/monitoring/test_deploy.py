"""deploy/monitoring: what the alerts and the dashboard ask for is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from ieim.config.monitoring import serving
from tests.checks import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = [each for each in DASHBOARD["panels"] if each["type"] != "row"]


def test_alerts_and_dashboard_ask_for_what_is_told(db: None) -> None:
    fields: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(serving.encode_metrics()[0].decode()):
        kinds = ("_bucket", "_sum", "_count") if family.type == "histogram" else ("",)
        end = "_total" if family.type == "counter" else ""
        labels = {name for sample in family.samples for name in sample.labels}
        fields |= {f"{family.name}{end}{kind}": labels for kind in kinds}
    exprs = [rule["expr"] for rule in RULES]
    exprs += [target["expr"] for panel in PANELS for target in panel["targets"]]
    assert len(exprs) > 30
    names = {name for entry in exprs for name in re.findall(r"\bieim_\w+", entry)}
    assert names - fields.keys() == set()
    for entry in exprs:
        for name, chosen in re.findall(r"\b(ieim_\w+)\{(\w+)", entry):
            assert not fields[name] or chosen in fields[name], entry
    everything = {name.removesuffix("_bucket") for name in fields if not name.endswith("_count")}
    documented = (ROOT / "docs" / "operating.md").read_text("utf-8")
    result = {name for name in everything if not name.endswith(("_sum", "_oldest_seconds"))}
    assert [name for name in sorted(result) if f"`{name}`" not in documented] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_who_has_to_act_and_on_what(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"].keys() == {"summary", "description"}


def test_no_two_panels_share_a_place() -> None:
    taken = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(taken) == len(set(taken))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize(
    "arguments", [["check", "rules", str(FOLDER / "alerts.yaml")], ["check", "metrics"]]
)
def test_promtool_takes_them(arguments: list[str], db: None) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    done = subprocess.run(
        [promtool, *arguments], input=serving.encode_metrics()[0], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_scrape_names_the_alerts_and_a_token_file() -> None:
    result = yaml.safe_load((FOLDER / "prometheus.yaml").read_text("utf-8"))
    assert [Path(name).name for name in result["rule_files"]] == ["alerts.yaml"]
    (job,) = result["scrape_configs"]
    assert job["job_name"] == "ieim"
    assert "credentials_file" in job["authorization"]
