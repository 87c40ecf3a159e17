"""The environment variables of IEIM, each with its type, default and meaning.

``.env.example`` is written from this file: ``python docs/build_environment.py``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import (
    AfterValidator,
    Field,
    Json,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from ieim.config import variables
from ieim.llm.capabilities import Format, MaxTokens

BASE_DIR = Path(__file__).resolve().parents[2]

Unparsed: Any = Field
"""``Field`` with a default that is a text, which is parsed as the variable is."""

NEEDED: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(
        ("IEIM_SECRET_KEY", "IEIM_PUBLIC_URL", "IEIM_ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL"),
        ("IEIM_ENV", "production"),
    ),
    "IEIM_MODEL_NAME": ("IEIM_MODEL_BASE_URL", ""),
    "IEIM_EMBEDDINGS_BASE_URL": ("IEIM_EMBEDDINGS", "openai"),
    "IEIM_EMBEDDINGS_MODEL": ("IEIM_EMBEDDINGS", "openai"),
    "IEIM_OPENID_CLIENT_ID": ("IEIM_OPENID_ISSUER", ""),
    "IEIM_OPENID_CLIENT_SECRET": ("IEIM_OPENID_ISSUER", ""),
    "IEIM_OPENID_GROUPS": ("IEIM_OPENID_ISSUER", ""),
    "IEIM_SMTP_PASSWORD": ("IEIM_SMTP_USER", ""),
}
"""The variables that have to be set where another one has a value, or has any."""

NEEDS: Final[Mapping[str, str]] = {
    "IEIM_SMTP_HOST": "IEIM_PUBLIC_URL",
    "IEIM_SMTP_PASSWORD": "IEIM_SMTP_USER",
    "IEIM_PROXY_EXCEPT": "IEIM_PROXY_URL",
    "IEIM_OPERATOR_MAIL": "IEIM_SMTP_HOST",
    "IEIM_ALERT_MAIL": "IEIM_SMTP_HOST",
}
"""The variable without which another one is of no use."""


class VariablesSource(PydanticBaseSettingsSource):
    """Environment variables, each of which may be given as NAME_FILE: the path of a file.

    White space counts as not set. A variable that cannot be read has its error for a value.
    """

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Return the text of a variable, its name, and that the text is not parsed here."""
        value: str | ValueError = os.environ.get(field_name, "").strip()
        path = os.environ.get(f"{field_name}_FILE", "").strip()
        if value and path:
            value = ValueError(f"is set, and {field_name}_FILE too. Set one of them.")
        elif path:
            try:
                value = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                value = ValueError(f"cannot be read from {field_name}_FILE: {error}")
        return value, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the variables that are set."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value != ""}


class Environment(BaseSettings):
    """The variables as they are used; a default that depends on others is made in the settings."""

    model_config = SettingsConfigDict(
        validate_default=True, use_attribute_docstrings=True, hide_input_in_errors=True
    )

    # --- What kind of installation ----------------------------------------------------------------

    IEIM_ENV: Literal["development", "production"] = "development"
    """development or production. Production refuses to start until the variables marked
    (production) are set, and lists the ones that are missing."""
    IEIM_SECRET_KEY: Annotated[str, AfterValidator(variables.check_secret_key)] = ""
    """(production) 50 or more random characters that nobody else knows:

    python3 -c "import secrets; print(secrets.token_urlsafe(64))"
    """
    IEIM_SECRET_KEY_FALLBACKS: Annotated[
        variables.Names, AfterValidator(variables.check_old_keys)
    ] = []
    """Keys that IEIM_SECRET_KEY was before, separated by commas, the last one first. What they have
    signed goes on, so a new key logs nobody out. docs/operating.md says when one can go."""
    IEIM_PUBLIC_URL: Annotated[str, AfterValidator(variables.read_origin)] = Field(
        "", examples=["https://ask.example.org"]
    )
    """(production) The address that people see in their browser: scheme and host, https in
    production. Websockets and form posts are taken from pages of this address only."""
    IEIM_ALLOWED_HOSTS: Annotated[variables.Names, AfterValidator(variables.check_hosts)] = Field(
        [], examples=["ask.example.org"]
    )
    """(production) The host names that are served, separated by commas. Development: loopback
    only."""
    IEIM_TRUSTED_PROXIES: int = Field(0, ge=0, le=9)
    """How many proxies in a row stand in front, 0 to 9. Of X-Forwarded-For, only the name that the
    outermost of them wrote is believed, and X-Forwarded-Proto only where there is one: 0 believes
    neither. Everybody's limits go by that address: behind a proxy, 0 would count all people as one.
    deploy/compose.yaml sets 1."""
    IEIM_CA_FILE: Annotated[str, AfterValidator(variables.check_ca_file)] = Field(
        "", examples=["/etc/ssl/certs/ca-certificates.crt"]
    )
    """A file (PEM) of all authorities whose certificates are trusted where this site connects to
    others: the model, the embedder, the mail server, the OpenID provider, webhooks. When it is not
    set, those of the operating system (for the OpenID provider, of certifi). PostgreSQL and Redis
    have theirs in their addresses (sslrootcert, ssl_ca_certs). With deploy/compose.yaml, a file of
    the host."""
    IEIM_PROXY_URL: Annotated[str, Field(pattern=r"^(https?://[^/?#]+/?)?$")] = Field(
        "", examples=["http://proxy.example.org:3128"]
    )
    """The proxy through which this site connects to all of these but the mail server, with a name
    and a password before the host if it asks for them. When it is not set, none."""
    IEIM_PROXY_EXCEPT: Annotated[variables.Names, AfterValidator(variables.check_proxy_except)] = (
        Field([], examples=["models.city.example,city.example"])
    )
    """What is reached without it: hosts, domains with everything below them, and single IP
    addresses, by commas. This machine and the host of IEIM_PUBLIC_URL always are."""
    IEIM_HSTS_SUBDOMAINS: bool = False
    """Whether browsers are told that the subdomains of this host use https too, and that the host
    may stand in the lists that browsers come with. Neither is forgotten for a year: say true only
    when every subdomain has https for good."""
    IEIM_HSTS_PRELOAD: bool = False
    PORT: int = Field(8000, ge=1, le=65535)
    """The port of `manage.py serve`, which listens on 127.0.0.1 only."""

    # --- Where data is kept -----------------------------------------------------------------------

    IEIM_DATA_DIR: Annotated[Path, AfterValidator(variables.create_folder)] = Field(
        BASE_DIR / "var", examples=["var"]
    )
    """The folder of the SQLite file; made when it is not there. Development: var/ in the
    checkout."""
    IEIM_PRIVATE_NETWORK: bool = False
    """Production asks DATABASE_URL and REDIS_URL for TLS where they are on another machine
    (?sslmode=verify-full, rediss://). true where nobody else is on the network between them, as
    between containers of one host. deploy/compose.yaml sets true."""
    DATABASE_URL: Annotated[str, AfterValidator(variables.check_database_url)] = Field(
        "", examples=["postgresql://user:password@127.0.0.1:5432/ieim"]
    )
    """(production) The database. Development: SQLite in IEIM_DATA_DIR."""
    IEIM_DATABASE_CONNECTIONS: int = Field(20, ge=12, le=500)
    """How many connections one process has to PostgreSQL at most, 12 to 500. docs/operating.md has
    the sum that max_connections has to hold."""
    IEIM_PGBOUNCER: bool = False
    """true where DATABASE_URL leads to a PgBouncer that pools transactions: nothing is then kept in
    a connection from one transaction to the next."""
    REDIS_URL: Annotated[str, AfterValidator(variables.check_redis_url)] = Field(
        "", examples=["redis://127.0.0.1:6379/0"]
    )
    """(production) Broker of the worker and channel layer of the websockets. When it is not set,
    one process does everything in memory."""

    # --- Watching it ------------------------------------------------------------------------------

    IEIM_METRICS_TOKEN: str = Field("", pattern=r"^([A-Za-z0-9._~+/-]{16,200}=*)?$")
    """What Prometheus sends as bearer token to read /metrics: 16 or more random letters and digits.
    When it is not set, /metrics is no address."""
    IEIM_WORKERS: int = Field(0, ge=0, le=1000, examples=[2])
    """How many worker processes there are on all machines together: /metrics says so, and the alert
    IeimWorkersMissing when fewer are at work. 0: it is not said."""
    IEIM_BACKED_UP: bool = False
    """true where deploy/backup.sh backs this installation up, by its timer or with Compose: then
    /metrics says when no backup has ever been made. It leaves backup.done and backup.failed in
    IEIM_DATA_DIR."""
    IEIM_LOG_FORMAT: Literal["text", "json"] = "text"
    """How log lines are written to standard error: text, or json, one object a line."""
    IEIM_LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = Field(
        None, examples=["INFO"]
    )
    """From which level up: DEBUG, INFO, WARNING or ERROR. Development: WARNING. DEBUG is of IEIM's
    own lines alone."""
    OTEL_EXPORTER_OTLP_ENDPOINT: variables.WebAddress = Field(
        "", examples=["http://127.0.0.1:4318"]
    )
    """Where traces are sent: a collector of OpenTelemetry, by OTLP over HTTP with protobuf
    (/v1/traces is put after it). When it is not set there are none, and nothing of OpenTelemetry is
    loaded. Its SDK reads these variables and its other ones (OTEL_EXPORTER_OTLP_CERTIFICATE,
    OTEL_BSP_…) by itself."""
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variables.WebAddress = Field(
        "", examples=["https://traces.example.org/otlp/v1/traces"]
    )
    """The whole address, where another path than /v1/traces is wanted."""
    OTEL_EXPORTER_OTLP_PROTOCOL: Literal["http/protobuf"] = "http/protobuf"
    """There is this protocol alone."""
    OTEL_EXPORTER_OTLP_HEADERS: Annotated[
        variables.Names, AfterValidator(variables.check_pairs)
    ] = Field([], examples=["authorization=Bearer%20key"])
    """What is sent with it, such as a key: name=value pairs, separated by commas."""
    OTEL_SERVICE_NAME: str = Field("", examples=["ieim"])
    """Who traces come from, and what else is said of every process."""
    OTEL_RESOURCE_ATTRIBUTES: Annotated[variables.Names, AfterValidator(variables.check_pairs)] = (
        Field([], examples=["deployment.environment.name=production"])
    )
    OTEL_TRACES_SAMPLER: Literal[
        "parentbased_always_on",
        "parentbased_always_off",
        "parentbased_traceidratio",
        "always_on",
        "always_off",
        "traceidratio",
    ] = "parentbased_always_on"
    """Which traces are kept: parentbased_always_on, parentbased_always_off,
    parentbased_traceidratio, and the same without parentbased_; for traceidratio, which part of
    them, 0 to 1."""
    OTEL_TRACES_SAMPLER_ARG: float = Field(1, ge=0, le=1)

    IEIM_LINK_CHECK: bool = True
    """Whether a worker opens every link of the knowledge each night, and when an editor asks for
    it: at most one request a second to a host. false where nothing may connect to the internet."""
    IEIM_PAGE_HOSTS: Annotated[variables.Names, AfterValidator(variables.check_proxy_except)] = (
        Field([], examples=["www.city.example,city.example"])
    )
    """The hosts whose pages editors may make entries from, and domains with everything below them,
    by commas; one at another port than 80 or 443 with it: city.example:8080. When it is not set,
    only saved pages can be read."""
    IEIM_PAGE_HEADINGS: Annotated[str, AfterValidator(variables.check_headings)] = ""
    """A YAML file with the headings of pages that mean a field, in the form of
    ieim/studio/webpages/headings.yaml, which it replaces."""

    # --- The model --------------------------------------------------------------------------------

    IEIM_MODEL_BASE_URL: variables.WebAddress = Field(
        "", examples=["https://models.example.org/v1"]
    )
    """Any OpenAI-compatible server, up to and without /chat/completions. When it is not set, the
    offline engine answers: it needs no model, and the pages say so."""
    IEIM_MODEL_API_KEY: str = ""
    """The key that the server asks for, if it does."""
    IEIM_MODEL_NAME: str = ""
    """The model's name on that server. Needed when IEIM_MODEL_BASE_URL is set."""
    IEIM_MODEL_TEMPERATURE: float = Field(0.2, ge=0, le=2)
    """Temperature of a stage's first attempt, 0 to 2. The second attempt is always at 0."""
    IEIM_MODEL_DEADLINE: float = Field(30, ge=0.1, le=600)
    """Seconds for one call in all, 0.1 to 600."""
    IEIM_MODEL_RESPONSE_FORMAT: Format = "json_schema"
    """manage.py doctor finds out what to set of the next five.

    How the server is told the shape of the answer: json_schema, json_object_schema (json_object
    with the schema beside it, as llama.cpp's Python server wants it), json_object or none. The gate
    checks every answer whatever this says."""
    IEIM_MODEL_MAX_TOKENS_FIELD: MaxTokens = "max_tokens"
    """What the server calls the longest answer: max_tokens or max_completion_tokens."""
    IEIM_MODEL_SEND_TEMPERATURE: bool = True
    """Whether a temperature is sent: true or false. Some models refuse one."""
    IEIM_MODEL_STORE: bool | None = None
    """Whether the provider is told to keep what it is asked, which is what citizens wrote: true,
    false, or not set, and then nothing is said and the provider's own rule holds. It has nothing to
    do with prefix caching. Leave it out, or set it to false where the server takes it."""
    IEIM_MODEL_CACHE_KEY: bool = False
    """Whether calls that begin alike are named alike (prompt_cache_key), so that a provider's
    prefix cache finds them more often: true or false. The name is the contract's; it holds nothing
    of a citizen's."""
    IEIM_MODEL_AHEAD: bool = True
    """Whether the likeliest next stages are asked beside the present one: an answer then takes two
    calls after one another in place of four, and calls that were in vain cost tokens: 1.3% over the
    demo's questions (benchmarks/load/ahead.py). Before the model has judged a message nothing is
    asked ahead unless the search takes it for an inquiry, so a greeting costs one call. true or
    false."""
    IEIM_MODEL_CALLS: int = Field(0, ge=0, le=10_000)
    """How many calls the model server gets at once, from all processes together; 0 is no limit.
    What is over it waits in turn, and citizens are told that it takes longer."""
    IEIM_WORKER_TURNS: int | None = Field(None, ge=1, le=2000, examples=[500])
    """How many turns one worker process has at a time; nearly all of them wait for the model. 500,
    and 200 without REDIS_URL."""
    IEIM_BUDGET_INPUT: variables.Tokens = 64_000
    """Budgets in tokens; 0 is no limit. Of one call's input: candidates are left out until it fits.
    Of one conversation, and of all conversations of a day (UTC): what would overrun it goes to a
    person. After a call the server's own count counts. Before it, its bytes by the most tokens a
    byte that the server has counted for the model lately; until it has counted ten calls of it,
    each byte is taken for a token, so let a new model have some 20,000 for one call at first. The
    day has no limit where the offline engine answers, unless one is set."""
    IEIM_BUDGET_SESSION: variables.Tokens = 5_000_000
    IEIM_BUDGET_DAY: variables.Tokens | None = Field(None, examples=[100_000_000])
    IEIM_LANGUAGES: Annotated[variables.Names, AfterValidator(variables.read_languages)] = ["en"]
    """The languages that answers are given in (ISO 639, by commas), first the one that the
    knowledge is written in. Those of its translations come to them by themselves. A message that is
    clearly in another one goes to a person."""
    IEIM_EMERGENCY_NUMBER: str = Field("112", pattern=r"^\+?[0-9]([ /-]?[0-9]){1,14}$")
    """The emergency number of your country: it stands at the foot of every citizen's page, until
    somebody sets another one at /settings/."""
    IEIM_KEY_PATTERNS: Annotated[
        Json[dict[str, Any]], AfterValidator(variables.compile_patterns)
    ] = Unparsed("{}", examples=['{"case_reference": ["[A-Z]{2}-[0-9]{6}"]}'])
    """What case references and other keys of your own look like: regular expressions by key type,
    matched whole. A key that fits is shown as verified."""
    IEIM_MODEL_OVERRIDES: Json[dict[variables.Stage, variables.Override]] = Unparsed(
        "{}",
        examples=['{"service_select_v1": {"model": "larger", "max_output_tokens": 4096}}'],
    )
    """What single stages do differently: a JSON object by stage id, each with any of model,
    temperature, max_output_tokens, max_input_tokens, response_format, max_tokens_field and
    send_temperature."""

    # --- Search by meaning ------------------------------------------------------------------------

    IEIM_EMBEDDINGS: Literal["embedded", "openai", "none"] = "embedded"
    """What ranks beside the words: embedded (a multilingual model that is installed with IEIM and
    runs on the CPU), openai (any server with POST /embeddings) or none. Where it fails, words rank
    alone."""
    IEIM_EMBEDDINGS_BASE_URL: variables.WebAddress = Field(
        "", examples=["https://models.example.org/v1"]
    )
    """For openai: the server's address up to and without /embeddings, its key if it asks for one,
    and the model's name there."""
    IEIM_EMBEDDINGS_API_KEY: str = ""
    IEIM_EMBEDDINGS_MODEL: str = ""
    IEIM_EMBEDDINGS_DEADLINE: float = Field(2, ge=0.1, le=30)
    """For openai: seconds for a question in all, 0.1 to 30; later than that, words rank alone."""
    IEIM_EMBEDDINGS_QUERY_PREFIX: str = ""
    """For openai: what the model wants before each text, such as query: and passage:"""
    IEIM_EMBEDDINGS_DOCUMENT_PREFIX: str = ""

    # --- People who review ------------------------------------------------------------------------

    IEIM_BUSINESS_HOURS: Annotated[tuple[int, int], PlainValidator(variables.parse_hours)] = (
        Unparsed("09:00-17:00")
    )
    """When people work on a working day, and the time zone of it and of every time that staff see.
    The hours hold until opening hours are set on /settings/."""
    IEIM_TIME_ZONE: Annotated[str, AfterValidator(variables.check_time_zone)] = "UTC"
    IEIM_HOLIDAYS: Annotated[str, AfterValidator(variables.check_country)] = Field(
        "", examples=["DE"]
    )
    """The country (or a part of it, such as DE-BY) whose public holidays nobody works on, by ISO
    3166. When it is not set, only weekends are free."""
    IEIM_CHOICE_MINUTES: int = Field(30, ge=1, le=7 * 24 * 60)
    """How many minutes citizens have to choose where the assistant asks them back, before a person
    gets the question, 1 to 10080."""
    IEIM_CLAIM_MINUTES: int = Field(15, ge=2, le=24 * 60)
    """How many minutes a claim holds that no open page renews, 2 to 1440."""
    IEIM_SAMPLES: int = Field(3, ge=0, le=100)
    """How many of a day's answers are drawn to be read again, of each agency, with and without a
    person apart, at random and as many flagged ones, 0 to 100; 0 draws none."""
    IEIM_SECOND_OPINION: Json[variables.SecondOpinion] = Unparsed(
        "{}", examples=['{"agencies": ["immigration"], "label_sets": ["risk_flags"]}']
    )
    """What needs a second person besides a crisis: whatever is decided on a question that one of
    these agencies (ids) was found for or handed, and items whose message carries a label of these
    label sets."""

    # --- How staff sign in ------------------------------------------------------------------------

    IEIM_OPENID_ISSUER: Annotated[str, AfterValidator(variables.check_issuer)] = Field(
        "", examples=["https://login.example.org/realms/city"]
    )
    """The OpenID provider of the administration: its issuer, as it says it itself in
    ISSUER/.well-known/openid-configuration. When it is not set, staff have passwords alone. There,
    register PUBLIC_URL/staff/login/openid/callback/ as where people are sent back, and
    PUBLIC_URL/staff/login/ as where they are sent after logging out. Where it ends sessions by
    itself (back-channel logout), it tells PUBLIC_URL/staff/login/openid/logout/."""
    IEIM_OPENID_CLIENT_ID: str = Field("", examples=["ieim"])
    """What the provider calls this site, and the secret that it has given it. Needed with the
    issuer."""
    IEIM_OPENID_CLIENT_SECRET: str = ""
    IEIM_OPENID_NAME: str = "single sign-on"
    """How the button on the login page names it: “Log in with …”."""
    IEIM_OPENID_GROUPS: Json[dict[str, variables.Group]] = Unparsed(
        "{}", examples=['{"desk": {"roles": ["caseworker"], "agencies": ["passports"]}}']
    )
    """Which roles and agencies (ids, or * for every one) its groups give: a JSON object. A group
    that is not here gives nothing. Needed with the issuer."""
    IEIM_OPENID_GROUPS_CLAIM: str = "groups"
    """The claim of the ID token that has the groups, and what is asked for so that it is there."""
    IEIM_OPENID_SCOPES: variables.Names = ["openid", "profile", "email"]
    IEIM_PASSWORDS: Annotated[bool, AfterValidator(variables.check_passwords)] = True
    """Whether staff also sign in with a password: true or false. false needs a provider."""
    IEIM_MFA_ROLES: Annotated[variables.Names, AfterValidator(variables.read_mfa_roles)] = Field(
        [], examples=["administrator,knowledge publisher,supervisor"]
    )
    """The roles that need a second factor, by commas: an authenticator app, a security key or a
    passkey, or one that the provider has asked for (amr says mfa). Superusers need one as soon as a
    role does. Who has none is led to set one up at the next login. none for nobody. Development:
    none."""
    IEIM_SESSION_IDLE_MINUTES: int = Field(60, ge=5, le=1440)
    """After how many minutes without use a staff session ends (5 to 1440), and after how many hours
    at the latest (1 to 720). Pages that are open ask for news by themselves: that is no use. A
    token of somebody from the provider works as long after their last login there."""
    IEIM_SESSION_HOURS: int = Field(12, ge=1, le=720)
    IEIM_SEALED: bool = False
    """true where the audit record is sealed (manage.py seal_audit, docs/audit.md): `doctor` and
    /readyz then say when no seal has ever come, and `doctor` when the record is not verified.
    Without it they only know of a seal that is old."""

    # --- How long it is kept ----------------------------------------------------------------------

    IEIM_KEEP_CONVERSATIONS: variables.Days = 0
    """Each is a number of days, 0 to 36500; 0 is no end. Done once a day; the audit record then has
    an event retention.applied with counts. docs/privacy.md says what each kind holds.

    Conversations: days since the last thing that happened in one. Never while somebody waits for
    an answer in it. Citizens read the number on the page about privacy."""
    IEIM_KEEP_DECIDED: variables.Days | None = Field(None, examples=[0])
    """Those in which a person decided something, with all that reviewers wrote: as the others when
    it is not set."""
    IEIM_KEEP_DELIVERIES: variables.Days = 90
    """What webhooks were not told and was given up, and outages of the model that are over."""
    IEIM_KEEP_OUTAGES: variables.Days = 730
    IEIM_KEEP_DRAFTS: variables.Days = 90
    """What a model drafted for editors, taken or not; what was taken is in the draft."""
    IEIM_KEEP_SIGN_INS: variables.Days = 7
    """Wrong passwords, with the name that was typed and the internet address. They lock an account
    for a quarter of an hour."""

    # --- E-mail -----------------------------------------------------------------------------------

    IEIM_SMTP_HOST: str = Field("", examples=["mail.example.org"])
    """The server that takes e-mails. When it is not set, nobody is told by e-mail that an answer is
    there, and no page offers it. It needs IEIM_PUBLIC_URL, for links."""
    IEIM_SMTP_PORT: int | None = Field(None, ge=1, le=65535, examples=[587])
    """Its port: 587 for starttls, 465 for tls, 25 for none."""
    IEIM_SMTP_SECURITY: Literal["starttls", "tls", "none"] = "starttls"
    """How the way to it is kept secret: starttls, tls or none. Its certificate is checked."""
    IEIM_SMTP_USER: str = ""
    """Name and password there, both or neither."""
    IEIM_SMTP_PASSWORD: str = ""
    IEIM_SMTP_TIMEOUT: float = Field(10, ge=1, le=60)
    """Seconds to wait for each of its answers, 1 to 60."""
    IEIM_MAIL_FROM: variables.MailAddress = Field("", examples=["no-reply@ask.example.org"])
    """Who e-mails come from, and where they bounce to: an address alone; the administration's name
    is put before it. When it is not set, no-reply@ and the host of IEIM_PUBLIC_URL."""
    IEIM_OPERATOR_MAIL: variables.MailAddresses = Field([], examples=["operators@example.org"])
    """Who is told by e-mail when the model gives no answers, and when it does again: addresses,
    separated by commas. When it is not set, only the pages of staff say so."""

    IEIM_ALERT_MAIL: variables.MailAddresses = Field([], examples=["leads@example.org"])
    """Who is told by e-mail of danger that nobody works on, of items that are due, and of many
    that stop alike: addresses, separated by commas."""
    IEIM_ALERT_WEBHOOK: str = Field("", examples=["desk"])
    """The name of a webhook that is told the same."""
    IEIM_ALERT_UNSEEN_MINUTES: int = Field(5, ge=1, le=24 * 60)
    """After so many minutes nobody works on it."""
    IEIM_ALERT_DUE_MINUTES: int = Field(30, ge=1, le=24 * 60)
    """So many minutes before an item is due."""

    IEIM_MCP: bool = True
    """Whether other assistants may read what is published by the Model Context Protocol, at /mcp.
    Each request counts as a message of its address (IEIM_ADDRESS_RATE)."""

    # --- Limits -----------------------------------------------------------------------------------

    IEIM_API_TURNS_RATE: variables.Rate = Unparsed("20/minute")
    """Each is a number and second, minute, hour or day; or none for no limit. Raise those of an
    address where a server of yours speaks for many citizens.

    How many messages one session may send: by page, form and REST together."""
    IEIM_ADDRESS_RATE: variables.Rate = Unparsed("60/minute")
    """How many messages one address may send, likewise. An IPv6 address counts by its first 64
    bits, and by its first 48 with four times as many; so it does wherever addresses are counted."""
    IEIM_ADDRESS_SOCKETS: int = Field(200, ge=0, le=1_000_000)
    """How many pages of one address may be connected at once, in each web process; 0 for no limit.
    A page beyond it works without live updates."""
    IEIM_QUESTIONS_RATE: variables.Rate = Unparsed("600/minute")
    """How many questions everybody together may ask: a brake for all of it."""
    IEIM_API_SESSIONS_RATE: variables.Rate = Unparsed("60/hour")
    """How many sessions one address may make by REST."""
    IEIM_MAIL_RATE: variables.Rate = Unparsed("3/day")
    """How many e-mails that ask for a confirmation one conversation may have sent, and one e-mail
    address gets from all conversations."""
    IEIM_MAIL_ORIGIN_RATE: variables.Rate = Unparsed("20/hour")
    """How many of them one address on the network may ask for."""
    IEIM_TOKEN_RATE: variables.Rate = Unparsed("300/minute")
    """How many requests one token of a staff program may make; an address with wrong tokens as
    many."""

    @field_validator("*", mode="before")
    @classmethod
    def raise_read_error(cls, value: Any) -> Any:
        """Raise the error with which a variable was read."""
        if isinstance(value, ValueError):
            raise value
        return value

    @field_validator("*")
    @classmethod
    def check_others(cls, value: Any, info: ValidationInfo) -> Any:
        """Check a variable against those that need it, and those that it needs."""
        name = str(info.field_name)
        other, text = NEEDED.get(name, ("", ""))
        if not value and other and (info.data.get(other) == text if text else info.data.get(other)):
            raise ValueError(f"is not set, and {other} is {text or 'set'}")
        if value and not info.data.get(NEEDS.get(name, ""), value):
            raise ValueError(f"is set without {NEEDS[name]}. Set that too.")
        return value

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *sources: Any, **kwargs: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read nothing but the process's environment."""
        return (VariablesSource(settings_cls),)


def read() -> Environment:
    """Return the variables of this process.

    Raises:
        ImproperlyConfigured: names every variable that cannot be used, and what to set.
    """
    try:
        return Environment()  # type: ignore[call-arg]  # mypy sees no default in Field(...)
    except ValidationError as error:
        problems = [f"  - {problem}" for problem in map(_describe, error.errors())]
    raise ImproperlyConfigured(
        "IEIM cannot start with these environment variables:\n"
        + "\n".join(problems)
        + "\nEvery variable is explained in .env.example."
    )


def _describe(error: ErrorDetails) -> str:
    """Return a problem as a sentence, and after it what the variable is for."""
    name, *path = map(str, error["loc"])
    message = error["msg"].replace("Input", "it", 1)
    match error["type"]:
        case "value_error":
            problem = str(error["ctx"]["error"])
        case "literal_error" if not path:
            problem = f"is {error['input']!r}. Set it to {error['ctx']['expected']}"
        case "bool_parsing" if not path:
            problem = f"is {error['input']!r}. Set it to true or false"
        case "string_pattern_mismatch" | "json_invalid":
            problem = f"cannot be used: {message}"
        case _ if path:
            problem = f"is wrong at {'.'.join(path)}: {message}"
        case _:
            problem = f"is {error['input']!r}: {message}"
    purpose = " ".join((Environment.model_fields[name].description or "").split())
    return f"{name} {problem.rstrip('.')}. {purpose}".rstrip()
