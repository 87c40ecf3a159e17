"""deploy/monitoring: what the alerts and the dashboard ask for is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from django.conf import settings
from prometheus_client.parser import text_string_to_metric_families

from ieim.config.monitoring import broker, measures, processes, serving
from tests.checks import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = [each for each in DASHBOARD["panels"] if each["type"] != "row"]


NEVER = "Inf " * 60

HEALTHY = {
    'up{job="ieim"}': "1x60",
    'ieim_metrics_complete{part="waiting"}': "1x60",
    'ieim_processes{kind="worker"}': "2x60",
    "ieim_workers_configured": "2x60",
    'ieim_heartbeat_age_seconds{kind="worker"}': "3x60",
    'ieim_turns_waiting_oldest_seconds{state="queued"}': "0x60",
    'ieim_http_request_seconds_count{status="2xx"}': "0+600x60",
    'ieim_http_request_seconds_count{status="5xx"}': "0+1x60",
    'ieim_database_pool_wait_seconds_total{kind="web",process="0"}': "0+5x60",
    "ieim_model_calls_total": "0+100x60",
    "ieim_model_errors_total": "0+1x60",
    "ieim_turns_received_total": "0+10x60",
    'ieim_turns_total{outcome="needs_review"}': "0+1x60",
    "ieim_audit_seal_age_seconds": "290x60",
    "ieim_audit_verification_age_seconds": "90000x60",
    "ieim_audit_verification_failed": "0x60",
    "ieim_backup_age_seconds": "90000x60",
    "ieim_backup_failed": "0x60",
}
"""What Prometheus has of an hour in which all is well: a value a minute."""

FAULTS = [
    ("IeimCrisisUnseen", "ieim_crisis_unseen_oldest_seconds", "301x60"),
    ("IeimAway", 'up{job="ieim"}', "0x60"),
    ("IeimFiguresMissing", 'ieim_metrics_complete{part="waiting"}', "0x60"),
    ("IeimNobodyAtWork", 'ieim_heartbeat_age_seconds{kind="worker"}', NEVER),
    ("IeimTurnsWait", 'ieim_turns_waiting_oldest_seconds{state="queued"}', "121x60"),
    ("IeimModelOutage", "ieim_model_outage_seconds", "301x60"),
    ("IeimModelErrors", "ieim_model_errors_total", "0+11x60"),
    ("IeimBreakerOpen", 'ieim_breaker_open{kind="web",process="0"}', "1x60"),
    ("IeimEmbedderUnavailable", 'ieim_embedder_unavailable{kind="web",process="0"}', "1x60"),
    ("IeimMoreGoesToPeople", 'ieim_turns_total{outcome="needs_review"}', "0+6x60"),
    ("IeimQueueOverdue", 'ieim_queue_overdue{urgency="sign"}', "1x60"),
    ("IeimWebhooksFail", 'ieim_webhook_deliveries{state="failing"}', "11x60"),
    ("IeimMailWaits", "ieim_mail_due_oldest_seconds", "3601x60"),
    ("IeimWorkersMissing", 'ieim_processes{kind="worker"}', "1x60"),
    ("IeimServerErrors", 'ieim_http_request_seconds_count{status="5xx"}', "0+13x60"),
    (
        "IeimPoolExhausted",
        'ieim_database_pool_wait_seconds_total{kind="web",process="0"}',
        "0+61x60",
    ),
    ("IeimRecordDoesNotHold", "ieim_audit_verification_failed", "1x60"),
    ("IeimVerificationOld", "ieim_audit_verification_age_seconds", NEVER),
    ("IeimBackupFailed", "ieim_backup_failed", "1x60"),
    ("IeimBackupOld", "ieim_backup_age_seconds", "93601x60"),
    ("IeimSealsOld", "ieim_audit_seal_age_seconds", "901x60"),
]
"""Each alert, and what one series has where that alert alone fires."""


def test_each_alert_fires_for_its_fault_alone(tmp_path: Path) -> None:
    assert [alert for alert, *_ in FAULTS] == [rule["alert"] for rule in RULES]
    cases = [("", {}), *((alert, {series: values}) for alert, series, values in FAULTS)]
    tests = [
        {
            "interval": "1m",
            "name": alert or "healthy",
            "input_series": [
                {"series": series, "values": values}
                for series, values in {**HEALTHY, **fault}.items()
            ],
            "promql_expr_test": [
                {
                    "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                    "eval_time": "55m",
                    "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1}]
                    if alert
                    else [],
                }
            ],
        }
        for alert, fault in cases
    ]
    content = {"rule_files": [str(FOLDER / "alerts.yaml")], "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    run_promtool("test", "rules", str(tmp_path / "tests.yaml"))


def run_promtool(*arguments: str, content: bytes = b"") -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    done = subprocess.run([promtool, *arguments], input=content, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def metrics(db: None, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Everything that a web process with a pool and with Redis reports."""
    pool = SimpleNamespace(get_stats=lambda: {"pool_max": 20})
    monkeypatch.setattr(measures, "connection", SimpleNamespace(pool=pool))
    monkeypatch.setattr(settings, "IEIM_REDIS_URL", "redis://127.0.0.1:1/0")
    names = ("used_memory", "maxmemory", "connected_clients", "evicted_keys")
    monkeypatch.setattr(broker, "_read", lambda: (dict.fromkeys(names, 0), 0))
    processes.report("web")
    return serving.encode_metrics()[0]


def test_alerts_and_dashboard_ask_for_what_is_told(metrics: bytes) -> None:
    fields: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.decode()):
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
def test_promtool_takes_them(arguments: list[str], metrics: bytes) -> None:
    run_promtool(*arguments, content=metrics)


def test_the_scrape_names_the_alerts_and_a_token_file() -> None:
    result = yaml.safe_load((FOLDER / "prometheus.yaml").read_text("utf-8"))
    assert [Path(name).name for name in result["rule_files"]] == ["alerts.yaml"]
    (job,) = result["scrape_configs"]
    assert job["job_name"] == "ieim"
    assert "credentials_file" in job["authorization"]
