"""The environment variables: how they are read, and what is said of those that cannot be used."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from docs import build_environment
from ieim.config import environment
from ieim.config.environment import Environment
from tests.checks import PRODUCTION, ROOT

Read = Callable[..., Environment]
GROUPS = {"desk": {"roles": ["caseworker"], "agencies": ["passports"]}, "heads": {}}
PROVIDER = PRODUCTION | {
    "IEIM_OPENID_ISSUER": "https://login.example.org/realms/city/",
    "IEIM_OPENID_CLIENT_ID": "ieim",
    "IEIM_OPENID_CLIENT_SECRET": "s",
    "IEIM_OPENID_GROUPS": json.dumps(GROUPS),
}
MAIL = PRODUCTION | {"IEIM_SMTP_HOST": "mail.example.org"}
REMOTE_DATABASE = "postgresql://ieim:hidden@db.example.org/ieim"


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read these variables and no others."""

    def read(variables: dict[str, str] | None = None, **extra: str) -> Environment:
        for name in [*os.environ]:
            if name.removesuffix("_FILE") in Environment.model_fields:
                monkeypatch.delenv(name)
        for name, value in {"IEIM_DATA_DIR": str(tmp_path), **(variables or {}), **extra}.items():
            monkeypatch.setenv(name, value)
        return environment.read()

    return read


def problems(read: Read, variables: dict[str, str], **extra: str) -> dict[str, str]:
    """Return what is said of each variable."""
    with pytest.raises(ImproperlyConfigured) as raised:
        read(variables, **extra)
    assert "hidden" not in str(raised.value)
    return dict(re.findall(r"^  - (\S+) (.*)$", str(raised.value), flags=re.MULTILINE))


def test_the_example_is_up_to_date() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert example == build_environment.content()
    documented = re.findall(r"^#([A-Z_]+)=", example, flags=re.MULTILINE)
    assert sorted(documented) == sorted(Environment.model_fields)


def test_white_space_counts_as_not_set(read: Read) -> None:
    variables = read(IEIM_OPENID_NAME="  ", IEIM_MODEL_API_KEY=" value ", IEIM_LANGUAGES=" , ")
    assert variables.IEIM_OPENID_NAME == "single sign-on"
    assert variables.IEIM_MODEL_API_KEY == "value"
    assert variables.IEIM_LANGUAGES == ["en"]


def test_a_value_may_stand_in_a_file_and_nowhere_beside(read: Read, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("secret\n", encoding="utf-8")
    assert read(IEIM_MODEL_API_KEY_FILE=str(file)).IEIM_MODEL_API_KEY == "secret"
    result = problems(
        read,
        {"IEIM_MODEL_API_KEY": "a", "IEIM_MODEL_API_KEY_FILE": str(file)},
        IEIM_EMBEDDINGS_API_KEY_FILE=f"{file}.gone",
    )
    assert result["IEIM_MODEL_API_KEY"].startswith("is set, and IEIM_MODEL_API_KEY_FILE too.")
    assert "from IEIM_EMBEDDINGS_API_KEY_FILE" in result["IEIM_EMBEDDINGS_API_KEY"]


def test_every_problem_is_told_at_once(read: Read) -> None:
    variables = {"IEIM_ENV": "production", "PORT": "ten", "IEIM_SEALED": "perhaps"}
    result = problems(read, variables)
    needed = ("IEIM_SECRET_KEY", "IEIM_ALLOWED_HOSTS", "IEIM_PUBLIC_URL")
    for name in (*needed, "DATABASE_URL", "REDIS_URL"):
        assert result.pop(name).startswith("is not set, and IEIM_ENV is production. (production)")
    assert result.keys() == {"PORT", "IEIM_SEALED"}
    assert result["PORT"].startswith("is 'ten'")
    assert "Set it to true or false" in result["IEIM_SEALED"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("IEIM_ENV", "staging"),
        ("IEIM_SECRET_KEY", "short"),
        ("IEIM_SECRET_KEY_FALLBACKS", "short"),
        ("IEIM_SECRET_KEY_FALLBACKS", PRODUCTION["IEIM_SECRET_KEY"]),
        ("IEIM_ALLOWED_HOSTS", "*"),
        ("IEIM_ALLOWED_HOSTS", "https://ask.example.org"),
        ("IEIM_ALLOWED_HOSTS", "other.example.org"),
        ("IEIM_ALLOWED_HOSTS", "ask.example.org:443"),
        ("IEIM_PUBLIC_URL", "ask.example.org"),
        ("IEIM_PUBLIC_URL", "http://ask.example.org"),
        ("IEIM_PUBLIC_URL", "https://ask.example.org/chat"),
        ("IEIM_PUBLIC_URL", "https://user@ask.example.org"),
        ("IEIM_PUBLIC_URL", "https://ask.example.org:port"),
        ("IEIM_PUBLIC_URL", "https://["),
        ("DATABASE_URL", "mysql://user:hidden@127.0.0.1/ieim"),
        ("DATABASE_URL", "not an address"),
        ("DATABASE_URL", "postgresql://user:hidden@127.0.0.1:5432"),
        ("REDIS_URL", "127.0.0.1:6379"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:port/0"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:6379/first"),
        ("REDIS_URL", "redis://"),
        ("IEIM_METRICS_TOKEN", "hidden"),
        ("IEIM_CA_FILE", "/dev/null"),
        ("IEIM_CA_FILE", "/nowhere.pem"),
        ("IEIM_PROXY_URL", "proxy.example.org:3128"),
        ("IEIM_PROXY_EXCEPT", "10.0.0.0/8"),
        ("IEIM_DATABASE_CONNECTIONS", "11"),
        ("IEIM_EMERGENCY_NUMBER", "112!"),
        ("IEIM_MODEL_BASE_URL", "models.example.org"),
        ("IEIM_MODEL_NAME", ""),
        ("IEIM_MODEL_TEMPERATURE", "nan"),
        ("IEIM_MODEL_DEADLINE", "1,5"),
        ("IEIM_MODEL_RESPONSE_FORMAT", "xml"),
        ("IEIM_MODEL_STORE", "perhaps"),
        ("IEIM_MODEL_OVERRIDES", "{"),
        ("IEIM_MODEL_OVERRIDES", "[]"),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"response_format": "xml"}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"send_temperature": 1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"no_such_stage": {}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"top_p": 1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"max_output_tokens": true}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"max_input_tokens": -1}}'),
        ("IEIM_MODEL_OVERRIDES", '{"judgement_v1": {"temperature": 2.5}}'),
        ("IEIM_KEY_PATTERNS", '{"case_reference": ["["]}'),
        ("IEIM_LANGUAGES", "en,xx"),
        ("IEIM_TRUSTED_PROXIES", "-1"),
        ("IEIM_KEEP_DECIDED", "-1"),
        ("PORT", "70000"),
        ("IEIM_API_TURNS_RATE", "60"),
        ("IEIM_API_TURNS_RATE", "0/hour"),
        ("IEIM_API_TURNS_RATE", "1/fortnight"),
        ("IEIM_BUSINESS_HOURS", "17:00-09:00"),
        ("IEIM_BUSINESS_HOURS", "9-17"),
        ("IEIM_TIME_ZONE", "Mars/Olympus"),
        ("IEIM_HOLIDAYS", "DE-XX"),
        ("IEIM_SECOND_OPINION", '{"label_sets": ["colours"]}'),
        ("IEIM_SECOND_OPINION", '{"agency": ["immigration"]}'),
        ("IEIM_PASSWORDS", "no"),
        ("IEIM_MFA_ROLES", "boss"),
        ("IEIM_OPERATOR_MAIL", "o@example.org"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x,hidden"),
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
    ],
)
def test_it_names_the_variable_that_cannot_be_used(read: Read, name: str, value: str) -> None:
    assert [*problems(read, PRODUCTION | {name: value})] == [name]


@pytest.mark.parametrize(
    ("base", "name", "value", "problem"),
    [
        (PROVIDER, "IEIM_OPENID_ISSUER", "http://login.example.org", "is 'http:"),
        (PROVIDER, "IEIM_OPENID_CLIENT_ID", "", "is not set, and IEIM_OPENID_ISSUER is set"),
        (PROVIDER, "IEIM_OPENID_CLIENT_SECRET", "", "is not set"),
        (PROVIDER, "IEIM_OPENID_GROUPS", "", "is not set"),
        (PROVIDER, "IEIM_OPENID_GROUPS", '{"a": {"roles": ["king"]}}', "king. The roles are: "),
        (PROVIDER, "IEIM_OPENID_GROUPS", '{"a": {"role": []}}', "is wrong at a.role"),
        (PROVIDER, "IEIM_OPENID_GROUPS", '{"a": "caseworker"}', "is wrong at a"),
        (PROVIDER, "IEIM_OPENID_GROUPS", '{"a": {"roles": "caseworker"}}', "is wrong at a.roles"),
        (MAIL, "IEIM_MAIL_FROM", "City <a@example.org>", "no-reply@"),
        (MAIL, "IEIM_OPERATOR_MAIL", "ops@example.org, ops", "is 'ops'"),
        (MAIL, "IEIM_SMTP_USER", "ieim", ""),
        (MAIL, "IEIM_SMTP_PASSWORD", "p", "is set without IEIM_SMTP_USER"),
        (MAIL, "IEIM_SMTP_SECURITY", "ssl", "'starttls', 'tls' or 'none'"),
        (MAIL, "IEIM_SMTP_TIMEOUT", "0", "greater than or equal to 1"),
        ({}, "IEIM_SMTP_HOST", "mail.example.org", "is set without IEIM_PUBLIC_URL"),
        ({"IEIM_EMBEDDINGS": "openai"}, "IEIM_EMBEDDINGS_MODEL", "m", ""),
    ],
)
def test_it_says_what_is_wrong(
    read: Read, base: dict[str, str], name: str, value: str, problem: str
) -> None:
    result = problems(read, base | {name: value})
    assert problem in result.get(name, "")
    assert len(result) == 1


def test_it_reads_what_is_set(read: Read) -> None:
    variables = read(
        PROVIDER,
        IEIM_PUBLIC_URL="https://Ask.Example.org:8443/",
        IEIM_LANGUAGES="en, fil, nb, no",
        IEIM_API_SESSIONS_RATE="none",
        IEIM_API_TURNS_RATE="5/second",
        IEIM_BUSINESS_HOURS="08:30-24:00",
        IEIM_PASSWORDS="Off",
        IEIM_MODEL_OVERRIDES='{"classify": {"temperature": 1, "model": "large"}}',
    )
    assert variables.IEIM_PUBLIC_URL == "https://ask.example.org:8443"
    # The codes by which messages are told apart.
    assert variables.IEIM_LANGUAGES == ["en", "tl", "no"]
    assert variables.IEIM_API_SESSIONS_RATE is None
    assert variables.IEIM_API_TURNS_RATE == (5, 1)
    assert variables.IEIM_BUSINESS_HOURS == (8 * 60 + 30, 24 * 60)
    assert variables.IEIM_PASSWORDS is False
    assert variables.IEIM_OPENID_ISSUER == "https://login.example.org/realms/city"
    assert variables.IEIM_OPENID_GROUPS["desk"].roles == {"caseworker"}
    assert variables.IEIM_OPENID_GROUPS["heads"].agencies == frozenset()
    override: Any = variables.IEIM_MODEL_OVERRIDES["classify"].model_dump(exclude_unset=True)
    assert override == {"temperature": 1, "model": "large"}


def test_a_provider_on_this_machine_is_for_development(read: Read) -> None:
    variables = PROVIDER | {"IEIM_ENV": "", "IEIM_OPENID_ISSUER": "http://localhost:8080"}
    assert read(variables).IEIM_OPENID_ISSUER == "http://localhost:8080"


def test_production_asks_strong_roles_for_a_second_factor(read: Read) -> None:
    strong = ["administrator", "knowledge publisher", "supervisor"]
    assert strong == read(PRODUCTION).IEIM_MFA_ROLES
    assert read().IEIM_MFA_ROLES == []
    assert read(PRODUCTION, IEIM_MFA_ROLES="none").IEIM_MFA_ROLES == []
    assert read(PRODUCTION, IEIM_MFA_ROLES="caseworker").IEIM_MFA_ROLES == ["caseworker"]


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
def test_what_leaves_the_machine_is_encrypted(read: Read, name: str, value: str) -> None:
    result = problems(read, PRODUCTION | {name: value})
    assert re.match(r"leads to \S+ without TLS", result[name])
    read(PRODUCTION | {name: value, "IEIM_PRIVATE_NETWORK": "true"})
    read({name: value})  # development asks for nothing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", f"{REMOTE_DATABASE}?sslmode=verify-full"),
        ("DATABASE_URL", "postgresql://ieim@%2Fvar%2Frun%2Fpostgresql/ieim"),
        ("DATABASE_URL", "postgresql:///ieim"),
        ("DATABASE_URL", "postgresql://ieim@[::1]/ieim"),
        ("REDIS_URL", "rediss://:hidden@redis.example.org:6379/0"),
        ("REDIS_URL", "redis://localhost:6379/0"),
        ("REDIS_URL", "redis://user:p@[::1]:6379?timeout=3"),
    ],
)
def test_what_is_encrypted_or_stays_on_the_machine_is_taken(
    read: Read, name: str, value: str
) -> None:
    read(PRODUCTION | {name: value})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fees: [cost]", "no headings at fees"),
        ("fees:\n  en: [cost, 2]", "no headings at fees.en. It needs fields"),
        ("", "no headings at its top"),
        ("prices:\n  en: [cost]", "names the field 'prices'. Use these: overview,"),
        ("fees: [", "cannot be read"),
    ],
)
def test_a_table_of_headings_has_fields_languages_and_phrases(
    read: Read, tmp_path: Path, text: str, sentence: str
) -> None:
    table = tmp_path / "headings.yaml"
    table.write_text("fees:\n  en: [cost]\n", encoding="utf-8")
    assert read({"IEIM_PAGE_HEADINGS": str(table)}).IEIM_PAGE_HEADINGS
    table.write_text(text, encoding="utf-8")
    assert sentence in problems(read, {"IEIM_PAGE_HEADINGS": str(table)})["IEIM_PAGE_HEADINGS"]
