"""Types and checks of environment variables, for :mod:`ieim.config.environment`.

A check raises ValueError with the end of a sentence that begins with the variable's name. In
``info.data`` are the valid ones of the variables that are declared before it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http.request import split_domain_port, validate_host
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
)
from pydantic import ValidationError as PydanticError
from pydantic_core import PydanticUseDefault

from ieim.llm.capabilities import Format, MaxTokens
from ieim.people.roles import Role
from ieim.pipeline.knowledge import LABEL_SETS, SERVICE_TEXTS

LOOPBACK: Final = ["127.0.0.1", "localhost", "[::1]"]
SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
ROLES: Final = [role.value for role in Role]
STRONG_ROLES: Final = [Role.ADMINISTRATOR.value, Role.PUBLISHER.value, Role.SUPERVISOR.value]


def in_production(info: ValidationInfo) -> bool:
    return bool(info.data.get("IEIM_ENV") == "production")


def split(value: Any) -> Any:
    """Return the parts of a text between its commas; the field's default where there are none."""
    if not isinstance(value, str):
        return value
    parts = [part.strip() for part in value.split(",")]
    if not any(parts):
        raise PydanticUseDefault
    return [part for part in parts if part]


Names = Annotated[list[str], BeforeValidator(split)]
Days = Annotated[int, Field(ge=0, le=36_500)]
Tokens = Annotated[int, Field(ge=0, le=10**12)]
WebAddress = Annotated[str, Field(pattern=r"^(https?://.*)?$")]


def parse_rate(value: str) -> tuple[int, int] | None:
    """Return a rate such as ``60/hour`` as a number and seconds, ``none`` as None."""
    if value == "none":
        return None
    if not re.fullmatch(rf"[1-9][0-9]{{0,8}}/({'|'.join(SECONDS)})", value):
        raise ValueError(f"is {value!r}. Set it to a number and a time: 60/hour, 20/minute")
    number, _, unit = value.partition("/")
    return int(number), SECONDS[unit]


Rate = Annotated[tuple[int, int] | None, PlainValidator(parse_rate)]


def check_pairs(pairs: list[str]) -> list[str]:
    if not all(re.fullmatch(r"[^=\s]+\s*=.*", pair) for pair in pairs):
        raise ValueError("has something else than name=value pairs")
    return pairs


def check_mail_address(address: str) -> str:
    try:
        if address:
            validate_email(address)
    except ValidationError:
        raise ValueError(f"is {address!r}. Set it to an address alone: no-reply@city.org") from None
    return address


MailAddress = Annotated[str, AfterValidator(check_mail_address)]
MailAddresses = Annotated[list[MailAddress], BeforeValidator(split)]


def check_secret_key(key: str, info: ValidationInfo) -> str:
    if key and in_production(info) and (len(key) < 50 or len(set(key)) < 5):
        raise ValueError("is too easy to guess")
    return key


def check_old_keys(keys: list[str], info: ValidationInfo) -> list[str]:
    if in_production(info) and any(len(key) < 50 for key in keys):
        raise ValueError("has a key that is too easy to guess")
    if info.data.get("IEIM_SECRET_KEY") in keys:
        raise ValueError("has IEIM_SECRET_KEY in it. Set that to a new key, and this to the old.")
    return keys


def read_origin(value: str, info: ValidationInfo) -> str:
    """Return a scheme and a host in lower case; https alone in production."""
    scheme = "https" if in_production(info) else "https?"
    host = r"(\[[0-9a-f:.]+\]|[0-9a-z_.-]+)(:[0-9]{1,5})?"
    origin = value.lower().rstrip("/")
    if value and not re.fullmatch(f"{scheme}://{host}", origin):
        raise ValueError(f"is {value!r}, which is no scheme and host")
    return origin


def check_hosts(hosts: list[str], info: ValidationInfo) -> list[str]:
    if any("/" in host for host in hosts):
        raise ValueError("has an address. Set it to host names: ask.example.org")
    if in_production(info) and "*" in hosts:
        raise ValueError("lets every host in. Set it to the names that you serve.")
    if hosts and in_production(info) and (public_url := info.data.get("IEIM_PUBLIC_URL")):
        host, _ = split_domain_port(public_url.partition("//")[2])
        if not validate_host(host, hosts):
            raise ValueError(f"lacks {host}, the host of IEIM_PUBLIC_URL. Add it.")
    return hosts


def check_ca_file(path: str) -> str:
    try:
        if path:
            ssl.create_default_context(cafile=path)
    except OSError as error:  # SSLError is one
        raise ValueError(f"is {path!r}, which has no certificates to read ({error})") from None
    return path


def check_headings(path: str) -> str:
    if not path:
        return path
    import yaml  # slow to import, and seldom needed

    try:
        table = yaml.safe_load(Path(path).read_bytes())
    except (OSError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"is {path!r}, which cannot be read ({reason})") from None
    try:
        table = TypeAdapter(dict[str, dict[Any, list[str]]]).validate_python(table, strict=True)
    except ValueError as error:
        loc = cast(PydanticError, error).errors()[0]["loc"]
        raise ValueError(
            f"is {path!r}, which has no headings at {'.'.join(map(str, loc[:2])) or 'its top'}. "
            "It needs fields, in each languages, in each a list of phrases: fees: {en: [cost]}"
        ) from None
    # A page is named by its title.
    if unknown := table.keys() - SERVICE_TEXTS[1:]:
        fields = ", ".join(SERVICE_TEXTS[1:])
        raise ValueError(
            f"is {path!r}, which names the field {min(unknown)!r}. Use these: {fields}"
        )
    return path


def check_proxy_except(names: list[str]) -> list[str]:
    """Return the names without a dot in front, which not every library takes."""
    if wrong := [name for name in names if re.search("[/*]", name)]:
        raise ValueError(f"has {wrong[0]!r}. Set it to hosts, domains and single IP addresses.")
    return [name.lstrip(".") for name in names]


def create_folder(folder: Path) -> Path:
    folder = folder.expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"is {str(folder)!r}, which cannot be made ({reason})") from None
    return folder


def check_database_url(url: str, info: ValidationInfo) -> str:
    if not url:
        return ""
    try:
        database = cast(dict[str, Any], dj_database_url.parse(url))
    except ValueError:
        raise ValueError("is not a database address") from None
    engine = database["ENGINE"].rpartition(".")[2]
    if engine not in ("sqlite3", "postgresql"):
        raise ValueError(f"names {engine}, which is not supported")
    if engine == "postgresql":
        if not database["NAME"]:
            raise ValueError("names no database")
        options = database.get("OPTIONS", {})
        encrypted = options.get("sslmode") in ("require", "verify-ca", "verify-full")
        hosts = (database["HOST"] or options.get("host", "")).split(",")
        _check_tls(info, hosts, encrypted=encrypted, remedy="put ?sslmode=verify-full after it")
    return url


def check_redis_url(url: str, info: ValidationInfo) -> str:
    """Return the address; one of TLS asks for a certificate, which Celery would not by itself."""
    # redis-py takes a database that is no number for the first one, and says nothing.
    if url and not re.fullmatch(
        r"rediss?://([^/?#@]*@)?(\[[^]/?#@]+\]|[^][/?#@:]+)(:[0-9]{1,5})?(/[0-9]*)?(\?.*)?",
        url,
        re.ASCII,
    ):
        raise ValueError("is not a Redis address")
    encrypted = url.startswith("rediss:")
    if url:
        hosts = [urlsplit(url).hostname or ""]
        _check_tls(info, hosts, encrypted=encrypted, remedy="begin it with rediss://")
    if encrypted and "ssl_cert_reqs=" not in url:
        url += f"{'&' if '?' in url else '?'}ssl_cert_reqs=required"
    return url


def _check_tls(info: ValidationInfo, hosts: Sequence[str], *, encrypted: bool, remedy: str) -> None:
    if encrypted or not in_production(info) or info.data.get("IEIM_PRIVATE_NETWORK"):
        return
    for host in hosts:
        if not host.startswith("/") and not _is_loopback(host):
            raise ValueError(
                f"leads to {host} without TLS, with what citizens wrote. To encrypt it, {remedy}; "
                "or set IEIM_PRIVATE_NETWORK to true where nobody else is on that network."
            )


def _is_loopback(host: str) -> bool:
    try:
        return host in ("", "localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


def read_languages(codes: list[str]) -> list[str]:
    """Return the codes by which the languages of messages are detected."""
    if codes == ["en"]:
        return codes
    from ieim.pipeline.message import language  # reads the detector's model: slow

    codes = [language.detected_code(code) for code in codes]
    for code in codes:
        if code not in language.detectable():
            raise ValueError(f"names {code!r}, in which messages cannot be told to be")
    return list(dict.fromkeys(codes))


def compile_patterns(table: dict[str, Any]) -> Mapping[str, Sequence[re.Pattern[str]]]:
    if not table:
        return {}
    from ieim.pipeline.personal import keys  # slow to import, and seldom needed

    try:
        return keys.compile_patterns(table)
    except ValueError as error:
        raise ValueError(f"cannot be used: {error}") from None


def _check_stage(stage: str) -> str:
    # Each contract is a file named by its id; importing the core to list the ids would be slow.
    contracts = Path(__file__).resolve().parents[1] / "pipeline" / "contracts"
    stages = sorted(path.name.partition(".")[0] for path in contracts.glob("*.schema.json"))
    if stage not in stages:
        raise ValueError(f"names {stage!r}. Use these: {', '.join(stages)}.")
    return stage


Stage = Annotated[str, AfterValidator(_check_stage)]


class Override(BaseModel):
    """The options of the model that one stage has for itself; those that are set count."""

    model_config = ConfigDict(strict=True, extra="forbid")

    model: str = ""
    temperature: float = Field(0, ge=0, le=2)
    max_output_tokens: int = Field(1, ge=1, le=10**6)
    max_input_tokens: int = Field(1, ge=1, le=10**12)
    response_format: Format = "json_schema"
    max_tokens_field: MaxTokens = "max_tokens"
    send_temperature: bool = True


def parse_hours(value: str) -> tuple[int, int]:
    """Return two times of a day as minutes of the day."""
    time = "([01][0-9]|2[0-4]):([0-5][0-9])"
    match = re.fullmatch(f"{time}-{time}", value, re.ASCII)
    hours = [int(part) for part in match.groups()] if match else [0, 0, 0, 0]
    opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
    if not opens < closes <= 24 * 60:
        raise ValueError(f"is {value!r}. Set it to two times of a day: 09:00-17:00")
    return opens, closes


def check_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ValueError(f"is {name!r}. Set it to a time zone: Europe/Berlin") from None
    return name


def check_country(value: str) -> str:
    value = value.upper()
    if not value:
        return ""
    # It knows every country, so it is loaded only where one is named.
    from holidays import list_supported_countries

    country, _, part = value.partition("-")
    parts = list_supported_countries().get(country)
    if parts is None or (part and part not in parts):
        raise ValueError(f"is {value!r}, which is no country and no part of one")
    return value


def _check_label_sets(label_sets: list[str]) -> list[str]:
    if unknown := sorted(set(label_sets) - set(LABEL_SETS)):
        raise ValueError(f"names {unknown[0]!r}. The label sets are: {', '.join(LABEL_SETS)}.")
    return label_sets


class SecondOpinion(BaseModel):
    """Agencies (ids) and label sets whose items need a second person."""

    model_config = ConfigDict(extra="forbid")

    agencies: list[str] = []
    label_sets: Annotated[list[str], AfterValidator(_check_label_sets)] = []


def check_issuer(issuer: str, info: ValidationInfo) -> str:
    scheme = "https" if in_production(info) else "https?"
    if issuer and not re.match(f"{scheme}://[^/?#]", issuer):
        raise ValueError(f"is {issuer!r}. Set it to an https address.")
    return issuer.rstrip("/")


def _check_roles(roles: frozenset[str]) -> frozenset[str]:
    if unknown := sorted(roles - set(ROLES)):
        names = ", ".join(ROLES)
        raise ValueError(f"has no role of ours: {', '.join(unknown)}. The roles are: {names}.")
    return roles


class Group(BaseModel):
    """The roles and agencies (ids, or ``*``) that a group of the OpenID provider gives."""

    model_config = ConfigDict(extra="forbid")

    roles: Annotated[frozenset[str], AfterValidator(_check_roles)] = frozenset()
    agencies: frozenset[Annotated[str, Field(min_length=1)]] = frozenset()


def check_passwords(allowed: bool, info: ValidationInfo) -> bool:
    if not allowed and not info.data.get("IEIM_OPENID_ISSUER"):
        raise ValueError("is false, and there is no other way in. Set IEIM_OPENID_ISSUER too.")
    return allowed


def read_mfa_roles(roles: list[str], info: ValidationInfo) -> list[str]:
    """Return the roles that need a second factor; ``none`` is nobody."""
    if roles == ["none"]:
        return []
    _check_roles(frozenset(roles))
    return roles or (STRONG_ROLES if in_production(info) else [])
