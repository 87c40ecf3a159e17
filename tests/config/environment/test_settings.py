"""The settings as a process of its own sees them."""

from __future__ import annotations

import os
import re
import runpy
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from kombu import Connection

from ieim.config import checks
from ieim.config.settings import env
from tests.checks import PRODUCTION, ROOT, clean_environment


def values(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """The settings as a process with this environment would load them."""
    variables = {"PATH": os.environ["PATH"], "IEIM_DATA_DIR": str(folder), **environment}
    with mock.patch.dict(os.environ, variables, clear=True):
        return runpy.run_path(str(ROOT / "ieim" / "config" / "settings.py"))


def refusal(folder: Path, environment: dict[str, str]) -> str:
    """What it says when it does not start."""
    with pytest.raises(ImproperlyConfigured) as raised:
        values(folder, environment)
    return str(raised.value)


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
    shown = values(tmp_path, {})
    assert shown["DEBUG"] is True
    assert shown["IEIM_EMBEDDED"] is True
    assert shown["CELERY_BROKER_URL"] == "memory://localhost/"
    assert shown["DATABASES"]["default"]["NAME"] == str(tmp_path / "ieim.sqlite3")
    assert shown["IEIM_MODEL"]["BASE_URL"] == ""


def test_it_lists_everything_that_production_lacks(tmp_path: Path) -> None:
    said = refusal(tmp_path, {"IEIM_ENV": "production"})
    for name in (
        "IEIM_SECRET_KEY",
        "IEIM_ALLOWED_HOSTS",
        "IEIM_PUBLIC_URL",
        "DATABASE_URL",
        "REDIS_URL",
    ):
        assert f"- {name} is not set. Set it to " in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("IEIM_ENV", "staging"),
        ("IEIM_SECRET_KEY", "short"),
        ("IEIM_ALLOWED_HOSTS", "*"),
        ("IEIM_ALLOWED_HOSTS", "https://ask.example.org"),
        ("IEIM_ALLOWED_HOSTS", "other.example.org"),
        ("IEIM_ALLOWED_HOSTS", "ask.example.org:443"),
        ("IEIM_PUBLIC_URL", "http://ask.example.org"),
        ("DATABASE_URL", "mysql://user:hidden@127.0.0.1/ieim"),
        ("DATABASE_URL", "not an address"),
        ("DATABASE_URL", "postgresql://user:hidden@127.0.0.1:5432"),
        ("REDIS_URL", "127.0.0.1:6379"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:port/0"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:6379/first"),
        ("REDIS_URL", "redis://"),
        ("IEIM_MODEL_BASE_URL", "models.example.org"),
        ("IEIM_MODEL_NAME", ""),
        ("IEIM_MODEL_RESPONSE_FORMAT", "xml"),
        ("IEIM_MODEL_MAX_TOKENS_FIELD", "tokens"),
        ("IEIM_MODEL_SEND_TEMPERATURE", "perhaps"),
        ("IEIM_MODEL_STORE", "perhaps"),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"response_format": "xml"}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"send_temperature": 1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"no_such_stage": {}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"top_p": 1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"max_output_tokens": true}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"max_output_tokens": -1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"max_input_tokens": -1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"temperature": 2.5}}'),
        ("IEIM_LANGUAGES", "english"),
        ("IEIM_LANGUAGES", "en,xx"),
        ("IEIM_TRUSTED_PROXIES", "-1"),
        ("PORT", "70000"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x,hidden"),
        ("OTEL_TRACES_SAMPLER", "some"),
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
    ],
)
def test_it_says_what_to_set_instead(tmp_path: Path, name: str, value: str) -> None:
    said = refusal(tmp_path, PRODUCTION | {name: value})
    problems = re.findall(r"^  - (.*)$", said, flags=re.MULTILINE)
    assert [problem.partition(" ")[0] for problem in problems] == [name]
    assert "hidden" not in said


def test_it_starts_in_production_with_everything_set(tmp_path: Path) -> None:
    shown = values(tmp_path, PRODUCTION)
    assert shown["DEBUG"] is False
    assert shown["IEIM_EMBEDDED"] is False
    assert shown["ALLOWED_HOSTS"] == ["ask.example.org"]
    assert shown["IEIM_WEBSOCKET_ORIGINS"] == ["https://ask.example.org"]
    assert shown["SESSION_COOKIE_SECURE"]
    assert shown["CSRF_COOKIE_SECURE"]
    assert shown["SECURE_SSL_REDIRECT"]
    assert shown["DATABASES"]["default"]["OPTIONS"]["pool"]["max_size"] > 1


REMOTE_DATABASE = "postgresql://ieim:hidden@db.example.org/ieim"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", REMOTE_DATABASE),
        ("DATABASE_URL", f"{REMOTE_DATABASE}?sslmode=prefer"),
        ("DATABASE_URL", "postgresql://ieim:hidden@10.0.0.7/ieim"),
        ("DATABASE_URL", "postgresql:///ieim?host=10.0.0.7"),
        ("REDIS_URL", "redis://:hidden@redis.example.org:6379/0"),
    ],
)
def test_what_leaves_the_machine_is_encrypted(tmp_path: Path, name: str, value: str) -> None:
    said = refusal(tmp_path, PRODUCTION | {name: value})
    assert re.findall(r"^  - (\S+) leads to \S+ without TLS", said, re.MULTILINE) == [name]
    assert "hidden" not in said
    values(tmp_path, PRODUCTION | {name: value, "IEIM_PRIVATE_NETWORK": "true"})
    values(tmp_path, {name: value})  # development asks for nothing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", f"{REMOTE_DATABASE}?sslmode=verify-full"),
        ("DATABASE_URL", "postgresql://ieim@%2Fvar%2Frun%2Fpostgresql/ieim"),
        ("DATABASE_URL", "postgresql:///ieim"),
        ("DATABASE_URL", "postgresql://ieim@[::1]/ieim"),
        ("REDIS_URL", "rediss://:hidden@redis.example.org:6379/0"),
        ("REDIS_URL", "redis://localhost:6379/0"),
    ],
)
def test_what_is_encrypted_or_stays_on_the_machine_is_taken(
    tmp_path: Path, name: str, value: str
) -> None:
    assert values(tmp_path, PRODUCTION | {name: value})


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
        shown = values(tmp_path, environment)
        for kind, name in (("SESSION", "sessionid"), ("CSRF", "csrftoken")):
            assert shown[f"{kind}_COOKIE_NAME"] == f"{prefix}{name}"
            assert shown[f"{kind}_COOKIE_SECURE"] is bool(prefix)
        assert shown["LANGUAGE_COOKIE_NAME"] == f"{prefix}ieim_language"
        assert shown["IEIM_COOKIE_PREFIX"] == prefix


def test_it_takes_every_code_of_a_language_for_what_messages_are_told_by(tmp_path: Path) -> None:
    shown = values(tmp_path, {"IEIM_LANGUAGES": "en, fil, nb, no"})
    assert shown["IEIM_MODEL"]["LANGUAGES"] == ["en", "tl", "no"]


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
    code, said = django(tmp_path, PRODUCTION, *check)
    assert code == 0, said
    offline = {k: v for k, v in PRODUCTION.items() if not k.startswith("IEIM_MODEL")}
    code, said = django(tmp_path, offline, *check)
    assert code == 1
    assert "the offline engine answers" in said


def test_it_refuses_without_a_traceback(tmp_path: Path) -> None:
    code, said = django(tmp_path, {"IEIM_ENV": "production"}, "check")
    assert code == 1
    assert said.startswith("IEIM cannot start with these environment variables:")


def test_it_documents_every_variable() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    documented = re.findall(r"^#([A-Z_]+)=", example, flags=re.MULTILINE)
    assert sorted(documented) == sorted(env.seen)


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
    found = values(tmp_path, served)["IEIM_EMBEDDINGS"]
    assert (found["MODEL"], found["DEADLINE"]) == ("small", 2)
    assert (found["QUERY_PREFIX"], found["DOCUMENT_PREFIX"]) == ("query: ", "")


def test_it_says_what_an_embedding_server_needs(tmp_path: Path) -> None:
    said = refusal(tmp_path, {"IEIM_EMBEDDINGS": "openai"})
    assert "IEIM_EMBEDDINGS_BASE_URL is not set" in said
    assert "IEIM_EMBEDDINGS_MODEL is not set" in said
    assert "embedded, openai, none" in refusal(tmp_path, {"IEIM_EMBEDDINGS": "best"})


def test_it_warns_where_the_embedded_model_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_EMBEDDINGS", {"KIND": "embedded"})
    assert checks.embedder_is_there(None) == []
    monkeypatch.setattr("ieim.search.embedders.PACKAGE", "no_such_package")
    (warning,) = checks.embedder_is_there(None)
    assert warning.id == "ieim.W002"
    assert "requirements/base.txt" in str(warning.hint)
    monkeypatch.setattr(settings, "IEIM_EMBEDDINGS", {"KIND": "none"})
    assert checks.embedder_is_there(None) == []
