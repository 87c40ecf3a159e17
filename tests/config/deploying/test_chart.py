"""deploy/helm/ieim: it takes every variable, keeps secrets apart, and renders what was meant."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ieim.audit.management.commands import verify_audit
from tests.checks import ROOT
from tests.config.environment.test_settings import django
from tests.config.environment.test_version import version
from tests.config.test_compose import documented

CHART = ROOT / "deploy/helm/ieim"
SECRET = {
    *("DATABASE_URL", "REDIS_URL", "IEIM_SECRET_KEY", "IEIM_SECRET_KEY_FALLBACKS"),
    *("IEIM_METRICS_TOKEN", "IEIM_MODEL_API_KEY", "IEIM_EMBEDDINGS_API_KEY"),
    *("IEIM_OPENID_CLIENT_SECRET", "IEIM_SMTP_PASSWORD"),
}
"""The variables that belong into a Secret."""

DIGEST = f"sha256:{'a' * 64}"
SET: dict[str, Any] = {
    "image": {"repository": "registry.example.org/ieim", "digest": DIGEST, "pullSecrets": ["pull"]},
    "env": {"IEIM_LANGUAGES": "en,de"},
    "secrets": {"seal": "ieim-seal"},
    "seal": {"claim": "seals"},
    "backup": {"claim": "backups"},
    "ingress": {"host": "ask.example.org", "annotations": {"example.org/a": "b"}},
    "web": {"autoscaling": {"maxReplicas": 6, "cpu": 80}},
    "prometheus": {"enabled": True, "labels": {"release": "watch"}},
}

with_helm = pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not installed")


def values(**changed: Any) -> dict[str, Any]:
    """What the chart is given, where an operator sets ``changed``."""
    defaults: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return {name: {**defaults[name], **changed.get(name, {})} for name in defaults}


def taken(variable: str) -> bool:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    try:
        jsonschema.validate(values(env={variable: "a"}), schema)
    except jsonschema.ValidationError:
        return False
    return True


@pytest.mark.parametrize("variable", documented())
def test_it_takes_every_variable_and_secrets_from_a_secret_alone(variable: str) -> None:
    assert taken(variable) is (variable not in SECRET)


def test_it_is_of_the_version_that_it_deploys() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version(), version())


def test_its_web_process_is_the_images_own() -> None:
    """The chart says no command for it: uvicorn's options are safety, and stand in one place."""
    text = "".join(file.read_text("utf-8") for file in CHART.glob("templates/*"))
    assert "uvicorn" not in text


def helm(*arguments: str, given: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "values.yaml").write_text(json.dumps(given), encoding="utf-8")
    command = ["helm", *arguments, "--values", f"{folder}/values.yaml"]
    return subprocess.run(command, cwd=CHART.parent, capture_output=True, text=True)


def rendered(given: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    done = helm("template", "site", "ieim", given=given, folder=folder)
    assert done.returncode == 0, done.stderr
    return [entry for entry in yaml.safe_load_all(done.stdout) if entry]


def pods(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The specifications of all pods, by the name of their only container."""
    fields = {}
    for result in objects:
        spec = result.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if pod := spec.get("template", {}).get("spec"):
            (container,) = pod["containers"]
            fields[container["name"]] = pod
    return fields


@with_helm
@pytest.mark.parametrize("given", [{}, SET])
def test_helm_finds_nothing_to_say(given: dict[str, Any], tmp_path: Path) -> None:
    done = helm("lint", "--strict", "ieim", given=given, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@with_helm
def test_it_runs_every_process_and_what_is_asked_for(tmp_path: Path) -> None:
    few = Counter(entry["kind"] for entry in rendered({}, tmp_path))
    assert few == {
        "Deployment": 3,
        "Job": 1,
        "ConfigMap": 2,
        "Service": 1,
        "NetworkPolicy": 2,
        "PodDisruptionBudget": 2,
    }
    all_of_it = Counter(entry["kind"] for entry in rendered(SET, tmp_path))
    assert all_of_it - few == {
        "CronJob": 3,
        "Ingress": 1,
        "HorizontalPodAutoscaler": 1,
        "ServiceMonitor": 1,
        "PrometheusRule": 1,
    }
    opened = Counter(
        entry["kind"] for entry in rendered({"networkPolicy": {"enabled": False}}, tmp_path)
    )
    assert few - opened == {"NetworkPolicy": 2}


@with_helm
def test_its_autoscaler_alone_says_how_many_web_processes_run(tmp_path: Path) -> None:
    objects = {
        (entry["kind"], entry["metadata"]["name"]): entry for entry in rendered(SET, tmp_path)
    }
    scaled = objects["HorizontalPodAutoscaler", "site-web"]["spec"]
    assert (scaled["minReplicas"], scaled["maxReplicas"]) == (2, 6)
    assert "replicas" not in objects["Deployment", "site-web"]["spec"]
    assert objects["Deployment", "site-worker"]["spec"]["replicas"] == 2


@with_helm
def test_the_operators_objects_have_its_labels_and_the_rules(tmp_path: Path) -> None:
    objects = {entry["kind"]: entry for entry in rendered(SET, tmp_path)}
    rules = (ROOT / "deploy/monitoring/alerts.yaml").read_text("utf-8")
    assert objects["PrometheusRule"]["spec"] == yaml.safe_load(rules)
    for kind in ("PrometheusRule", "ServiceMonitor"):
        assert objects[kind]["metadata"]["labels"]["release"] == "watch"
    service = objects["Service"]
    monitor = objects["ServiceMonitor"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert [port["name"] for port in service["spec"]["ports"]] == [monitor["endpoints"][0]["port"]]


@with_helm
def test_each_pod_is_nobody_and_has_its_own_roles_address(tmp_path: Path) -> None:
    result = pods(rendered(SET, tmp_path))
    assert result.keys() == {"web", "worker", "beat", "migrate", "seal", "verify", "backup"}
    defaults = {}
    for name, pod in result.items():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert "@sha256:" in container["image"]
        for variable in container.get("env", []):
            if "valueFrom" in variable:
                defaults[name] = variable["valueFrom"]["secretKeyRef"]["name"]
    audit = dict.fromkeys(("seal", "verify", "backup"), "ieim-seal")
    assert defaults == {"migrate": "ieim-owner", **audit}
    keys = [name for name, pod in result.items() if '"key.pem"' in json.dumps(pod)]
    assert keys == ["seal"]


@with_helm
@pytest.mark.parametrize("name", ["seal", "verify"])
def test_who_seals_or_verifies_has_nothing_of_the_sites_and_starts(
    name: str, tmp_path: Path
) -> None:
    (container,) = pods(rendered(SET, tmp_path))[name]["containers"]
    assert "envFrom" not in container
    env = {
        entry["name"]: entry.get("value", "postgresql://a/b?sslmode=verify-full")
        for entry in container["env"]
    }
    code, result = django(tmp_path, {"IEIM_ENV": "production", **env}, "check")
    assert code == 0, result


@with_helm
def test_it_verifies_against_the_seals_that_it_keeps(tmp_path: Path) -> None:
    def arguments_of(given: dict[str, Any]) -> Any:
        (container,) = pods(rendered(given, tmp_path))["verify"]["containers"]
        arguments = container["args"][3:]
        parser = verify_audit.Command().create_parser("manage.py", "verify_audit")
        result = parser.parse_args(arguments)
        assert result.record
        return result.seals, result.public_key

    assert arguments_of(SET) == (Path("/seals/seals"), Path("/key/public.pem"))
    assert arguments_of({**SET, "seal": {"claim": ""}}) == (None, None)


@with_helm
def test_a_changed_variable_starts_processes_anew(tmp_path: Path) -> None:
    def sums(given: dict[str, Any]) -> list[str]:
        return [
            entry["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
            for entry in rendered(given, tmp_path)
            if entry["kind"] == "Deployment"
        ]

    assert len(set(sums({}))) == 1
    assert not set(sums({})) & set(sums({"env": {"IEIM_LANGUAGES": "de"}}))


@with_helm
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"env": {"IEIM_SECRET_KEY": "a"}}, "IEIM_SECRET_KEY"),
        ({"env": {"IEIM_MODEL_CALLS": 4}}, "IEIM_MODEL_CALLS"),
        ({"webb": {}}, "webb"),
        ({"backup": {"claim": "a"}}, "needs secrets.seal"),
    ],
)
def test_it_says_what_is_wrong(given: dict[str, Any], says: str, tmp_path: Path) -> None:
    done = helm("template", "site", "ieim", given=given, folder=tmp_path)
    assert done.returncode != 0
    assert says in done.stderr
