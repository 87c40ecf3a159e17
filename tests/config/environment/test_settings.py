"""The settings as a process of its own sees them."""

from __future__ import annotations

import os
import runpy
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import requests
from django.conf import settings
from django.db import connection
from kombu import Connection

from ieim.config import checks
from tests.checks import PRODUCTION, ROOT, clean_environment


def values(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """The settings as a process with this environment would load them."""
    variables = {"PATH": os.environ["PATH"], "IEIM_DATA_DIR": str(folder), **environment}
    with mock.patch.dict(os.environ, variables, clear=True):
        return runpy.run_path(str(ROOT / "ieim" / "config" / "settings.py"))


def django(folder: Path, environment: dict[str, str], *command: str) -> tuple[int, str]:
    """Run a command of manage.py with this environment; returns exit code and output."""
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**clean_environment(), "IEIM_DATA_DIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def test_it_needs_nothing_in_development(tmp_path: Path) -> None:
    result = values(tmp_path, {})
    assert result["DEBUG"] is True
    assert result["IEIM_EMBEDDED"] is True
    assert result["CELERY_BROKER_URL"] == "memory://localhost/"
    assert result["DATABASES"]["default"]["NAME"] == str(tmp_path / "ieim.sqlite3")
    assert result["IEIM_MODEL"]["BASE_URL"] == ""


def test_it_starts_in_production_with_everything_set(tmp_path: Path) -> None:
    result = values(tmp_path, PRODUCTION)
    assert result["DEBUG"] is False
    assert result["IEIM_EMBEDDED"] is False
    assert result["ALLOWED_HOSTS"] == ["ask.example.org"]
    assert result["IEIM_WEBSOCKET_ORIGINS"] == ["https://ask.example.org"]
    assert result["SESSION_COOKIE_SECURE"]
    assert result["CSRF_COOKIE_SECURE"]
    assert result["SECURE_SSL_REDIRECT"]
    assert result["DATABASES"]["default"]["OPTIONS"]["pool"]["max_size"] > 1


def test_libraries_are_given_the_authorities_and_the_proxy() -> None:
    proxy, authorities = "http://proxy.example.org:3128", str(requests.utils.DEFAULT_CA_BUNDLE_PATH)
    given = {"IEIM_CA_FILE": authorities, "IEIM_PROXY_URL": proxy}
    with mock.patch.dict(os.environ, {**PRODUCTION, **given, "IEIM_PROXY_EXCEPT": ".city.example"}):
        runpy.run_path(str(ROOT / "ieim" / "config" / "settings.py"))
        session = requests.Session()
        for url, proxies in (
            ("https://login.example.org/", {"http": proxy, "https": proxy}),
            ("https://login.city.example/", {}),
            ("https://ask.example.org/", {}),
        ):
            merged = session.merge_environment_settings(url, {}, None, None, None)
            used = {key: value for key, value in merged["proxies"].items() if key != "no"}
            assert used == proxies
            assert merged["verify"] == authorities
        assert ssl.get_default_verify_paths().cafile == authorities


@pytest.mark.parametrize("query", ["", "?ssl_ca_certs=/ca.pem"])
def test_celery_checks_the_certificate_of_redis(tmp_path: Path, query: str) -> None:
    url = f"rediss://redis.example.org:6379/0{query}"
    broker = values(tmp_path, PRODUCTION | {"REDIS_URL": url})["CELERY_BROKER_URL"]
    options = Connection(broker).ssl
    assert isinstance(options, dict)
    assert options["ssl_cert_reqs"] is ssl.CERT_REQUIRED
    assert ("ssl_ca_certs" in options) is bool(query)


def test_production_takes_cookies_from_this_host_alone(tmp_path: Path) -> None:
    for environment, prefix in ((PRODUCTION, "__Host-"), ({}, "")):
        result = values(tmp_path, environment)
        for kind, name in (("SESSION", "sessionid"), ("CSRF", "csrftoken")):
            assert result[f"{kind}_COOKIE_NAME"] == f"{prefix}{name}"
            assert result[f"{kind}_COOKIE_SECURE"] is bool(prefix)
        assert result["LANGUAGE_COOKIE_NAME"] == f"{prefix}ieim_language"
        assert result["IEIM_COOKIE_PREFIX"] == prefix


def test_it_believes_no_header_without_a_proxy(tmp_path: Path) -> None:
    assert values(tmp_path, PRODUCTION)["SECURE_PROXY_SSL_HEADER"] is None
    behind = values(tmp_path, PRODUCTION | {"IEIM_TRUSTED_PROXIES": "1"})
    assert behind["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")


def test_it_gives_no_turn_out_twice_while_it_may_still_run(tmp_path: Path) -> None:
    slow = PRODUCTION | {"IEIM_MODEL_DEADLINE": "600"}
    options = values(tmp_path, slow)["CELERY_BROKER_TRANSPORT_OPTIONS"]
    stages, attempts = 6, 2
    visibility = options["visibility_timeout"]
    assert visibility > stages * attempts * 600


@pytest.mark.whole
def test_it_checks_out_for_deployment(tmp_path: Path) -> None:
    check = ("check", "--deploy", "--fail-level", "WARNING")
    code, result = django(tmp_path, PRODUCTION, *check)
    assert code == 0, result
    offline = {k: v for k, v in PRODUCTION.items() if not k.startswith("IEIM_MODEL")}
    code, result = django(tmp_path, offline, *check)
    assert code == 1
    assert "the offline engine answers" in result


def test_it_refuses_without_a_traceback(tmp_path: Path) -> None:
    code, result = django(tmp_path, {"IEIM_ENV": "production"}, "check")
    assert code == 1
    assert result.startswith("IEIM cannot start with these environment variables:")


@pytest.mark.both_databases
def test_it_runs_on_the_database_that_was_asked_for() -> None:
    expected = os.environ.get("IEIM_TEST_EXPECT_VENDOR")
    if expected is None:
        pytest.skip("IEIM_TEST_EXPECT_VENDOR is not set: make test sets it")
    assert connection.vendor == expected
    assert settings.IEIM_EMBEDDED is (expected == "sqlite")


@pytest.mark.both_databases
@pytest.mark.django_db
def test_it_reaches_the_database() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert cursor.execute("PRAGMA synchronous").fetchone() == (1,)
        else:
            cursor.execute("SHOW server_encoding")
            assert cursor.fetchone() == ("UTF8",)


def test_it_reads_the_embedder(tmp_path: Path) -> None:
    assert values(tmp_path, {})["IEIM_EMBEDDINGS"]["KIND"] == "embedded"
    served = {
        "IEIM_EMBEDDINGS": "openai",
        "IEIM_EMBEDDINGS_BASE_URL": "https://models.example/v1",
        "IEIM_EMBEDDINGS_MODEL": "small",
        "IEIM_EMBEDDINGS_QUERY_PREFIX": "query: ",
    }
    result = values(tmp_path, served)["IEIM_EMBEDDINGS"]
    assert (result["MODEL"], result["DEADLINE"]) == ("small", 2)
    assert (result["QUERY_PREFIX"], result["DOCUMENT_PREFIX"]) == ("query: ", "")


def test_it_warns_where_the_embedded_model_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_EMBEDDINGS", {"KIND": "embedded"})
    assert checks.check_embedder(None) == []
    monkeypatch.setattr("ieim.search.embedders.PACKAGE", "no_such_package")
    (warning,) = checks.check_embedder(None)
    assert warning.id == "ieim.W002"
    assert "requirements/base.txt" in str(warning.hint)
    monkeypatch.setattr(settings, "IEIM_EMBEDDINGS", {"KIND": "none"})
    assert checks.check_embedder(None) == []


def test_a_day_has_a_budget_where_a_model_costs_something(tmp_path: Path) -> None:
    model = {"IEIM_MODEL_BASE_URL": "https://models.example.org/v1", "IEIM_MODEL_NAME": "m"}
    for environment, budget in (
        (model, 100_000_000),
        (model | {"IEIM_BUDGET_DAY": "0"}, None),
        ({}, None),
        ({"IEIM_BUDGET_DAY": "7"}, 7),
    ):
        assert values(tmp_path, environment)["IEIM_MODEL"]["BUDGET"]["day"] == budget


def test_rates_are_counted_for_all_processes_where_there_is_redis(tmp_path: Path) -> None:
    assert values(tmp_path, {})["CACHES"]["default"]["BACKEND"].endswith("LocMemCache")
    cache = values(tmp_path, {"REDIS_URL": "redis://host:6379/0"})["CACHES"]["default"]
    assert cache["LOCATION"] == "redis://host:6379/0"


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("none", 25)])
def test_mail_has_a_port_and_a_sender_by_itself(tmp_path: Path, security: str, port: int) -> None:
    server = {"IEIM_SMTP_HOST": "mail.example.org", "IEIM_SMTP_SECURITY": security}
    mail = values(tmp_path, PRODUCTION | server)["IEIM_MAIL"]
    assert (mail["PORT"], mail["FROM"]) == (port, "no-reply@ask.example.org")


def test_it_warns_of_no_sender_and_no_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    mail = {"HOST": "mail.example.org", "FROM": "a@example.org", "SECURITY": "tls"}
    for changes, ids in (
        ({"FROM_IS_SET": True}, []),
        ({"FROM_IS_SET": False}, ["ieim.W003"]),
        ({"FROM_IS_SET": True, "SECURITY": "none"}, ["ieim.W004"]),
        ({"FROM_IS_SET": False, "HOST": ""}, []),
    ):
        monkeypatch.setattr(settings, "IEIM_MAIL", mail | changes)
        assert [warning.id for warning in checks.check_mail(None)] == ids
