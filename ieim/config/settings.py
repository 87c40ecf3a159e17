"""Django's settings, for development and production alike: the environment alone tells them apart.

Development needs no variable at all. Production (``IEIM_ENV=production``) refuses to start until
every variable that it needs is set, and says which are missing.
"""

from __future__ import annotations

import os
import tomllib
import warnings
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from django.conf.locale import LANG_INFO

from ieim.config import environment, logs, variables
from ieim.config.environment import BASE_DIR

env = environment.read()
IEIM_VERSION = str(
    tomllib.loads((BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
)
PRODUCTION = env.IEIM_ENV == "production"
DEBUG = not PRODUCTION

# --- Where it is reached -------------------------------------------------------------------------

# A fixed one in development, where only loopback is served.
SECRET_KEY = env.IEIM_SECRET_KEY or "development-only-" + "k3y" * 12
SECRET_KEY_FALLBACKS = env.IEIM_SECRET_KEY_FALLBACKS
# The one origin that browsers use; empty in development, where any loopback port will do.
IEIM_PUBLIC_URL = env.IEIM_PUBLIC_URL
ALLOWED_HOSTS = env.IEIM_ALLOWED_HOSTS or variables.LOOPBACK
IEIM_WEBSOCKET_ORIGINS = [IEIM_PUBLIC_URL] if IEIM_PUBLIC_URL else variables.LOOPBACK
CSRF_TRUSTED_ORIGINS = [IEIM_PUBLIC_URL] if IEIM_PUBLIC_URL else []
# How many proxies stand in front. Without any, no header says where a request comes from.
IEIM_TRUSTED_PROXIES = env.IEIM_TRUSTED_PROXIES
# What is connected to from here. Libraries (smtplib, those of OpenID and of traces) read the
# standard variables; our own clients use a proxy only where it is set here.
if env.IEIM_CA_FILE:
    os.environ.update(SSL_CERT_FILE=env.IEIM_CA_FILE, REQUESTS_CA_BUNDLE=env.IEIM_CA_FILE)
IEIM_PROXY_URL = env.IEIM_PROXY_URL
IEIM_PROXY_EXCEPT = [
    *("localhost", "127.0.0.1", "::1", urlsplit(IEIM_PUBLIC_URL).hostname or "localhost"),
    *env.IEIM_PROXY_EXCEPT,
]
if IEIM_PROXY_URL:
    for _name in ("http_proxy", "https_proxy", "no_proxy"):
        _value = ",".join(IEIM_PROXY_EXCEPT) if _name == "no_proxy" else IEIM_PROXY_URL
        os.environ.update({_name: _value, _name.upper(): _value})
# With it browsers take a cookie only from this host itself, over TLS, for all of its addresses.
IEIM_COOKIE_PREFIX = "__Host-" if PRODUCTION else ""
# Only `manage.py serve` listens by itself; production gives the port to uvicorn.
IEIM_PORT = env.PORT

# --- Data ----------------------------------------------------------------------------------------

IEIM_DATA_DIR = env.IEIM_DATA_DIR
_DATABASE: Any = dj_database_url.parse(
    env.DATABASE_URL or f"sqlite:///{IEIM_DATA_DIR / 'ieim.sqlite3'}"
)
if _DATABASE["ENGINE"].endswith("sqlite3"):
    _DATABASE["CONN_MAX_AGE"] = 600
    _DATABASE.setdefault("OPTIONS", {}).update(
        # A writer waits for another instead of failing, and takes its lock at BEGIN.
        timeout=20,
        transaction_mode="IMMEDIATE",
        init_command="PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    )
else:
    _DATABASE["CONN_HEALTH_CHECKS"] = True
    # A cursor of the server would be gone, or another's, with the next transaction.
    _DATABASE["DISABLE_SERVER_SIDE_CURSORS"] = env.IEIM_PGBOUNCER
    # A worker has eight turns that work, two that are claimed, a heartbeat and a follower; a turn
    # that waits for the model has no connection.
    _DATABASE.setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": env.IEIM_DATABASE_CONNECTIONS,
        "timeout": 10,
    }
DATABASES = {"default": _DATABASE}
AUTH_USER_MODEL = "people.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Without Redis everything stays in this process: broker, channel layer, worker (embedded.py) and
# the cache, where rates are counted.
IEIM_REDIS_URL = env.REDIS_URL
IEIM_EMBEDDED = not IEIM_REDIS_URL
# The layer that tells browsers of progress is only ever a hint: the database is the truth.
_CHANNEL_LAYER: dict[str, Any] = {"BACKEND": "channels.layers.InMemoryChannelLayer"}
_CACHE: dict[str, Any] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    # A full cache drops entries, whichever they are.
    "OPTIONS": {"MAX_ENTRIES": 50_000},
}
if IEIM_REDIS_URL:
    _CHANNEL_LAYER = {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [IEIM_REDIS_URL], "prefix": "ieim"},
    }
    _CACHE = {
        "BACKEND": "ieim.config.cache.PooledRedisCache",
        "LOCATION": IEIM_REDIS_URL,
        "KEY_PREFIX": "ieim",
    }
CHANNEL_LAYERS = {"default": _CHANNEL_LAYER}
CACHES = {"default": _CACHE}
# What every citizen's page says to call when a life is in danger.
IEIM_EMERGENCY_NUMBER = env.IEIM_EMERGENCY_NUMBER
# How often one may come, by scope of conversations.turns.limits: a number and seconds, or None.
IEIM_RATES = {
    "sessions": env.IEIM_API_SESSIONS_RATE,
    "turns": env.IEIM_API_TURNS_RATE,
    "address": env.IEIM_ADDRESS_RATE,
    "everybody": env.IEIM_QUESTIONS_RATE,
    "mail": env.IEIM_MAIL_RATE,
    "mail_origin": env.IEIM_MAIL_ORIGIN_RATE,
    "tokens": env.IEIM_TOKEN_RATE,
}
# Whether the Model Context Protocol is served.
IEIM_MCP = env.IEIM_MCP
# Open pages of an address in each process; 0 is no limit.
IEIM_ADDRESS_SOCKETS = env.IEIM_ADDRESS_SOCKETS

# --- The model -----------------------------------------------------------------------------------

# BASE_URL is empty for the offline engine. AHEAD switches speculative calls on. CALLS is how many
# calls of all processes the server gets at once, None for no limit. DEADLINE is in seconds, for one
# call in all. STORE is None where the provider is sent nothing about it. OVERRIDES are by stage id,
# KEY_PATTERNS by key type. BUDGET counts tokens, None for no limit. LANGUAGES are ISO 639.
IEIM_MODEL: dict[str, Any] = {
    "BASE_URL": env.IEIM_MODEL_BASE_URL,
    "HAS_PROXY": bool(IEIM_PROXY_URL),
    "API_KEY": env.IEIM_MODEL_API_KEY,
    "NAME": env.IEIM_MODEL_NAME,
    "TEMPERATURE": env.IEIM_MODEL_TEMPERATURE,
    "DEADLINE": env.IEIM_MODEL_DEADLINE,
    "RESPONSE_FORMAT": env.IEIM_MODEL_RESPONSE_FORMAT,
    "MAX_TOKENS_FIELD": env.IEIM_MODEL_MAX_TOKENS_FIELD,
    "SEND_TEMPERATURE": env.IEIM_MODEL_SEND_TEMPERATURE,
    "STORE": env.IEIM_MODEL_STORE,
    "CACHE_KEY": env.IEIM_MODEL_CACHE_KEY,
    # In process an answer takes milliseconds: there is nothing to gain.
    "AHEAD": env.IEIM_MODEL_AHEAD and bool(env.IEIM_MODEL_BASE_URL),
    "CALLS": env.IEIM_MODEL_CALLS or None,
    "OVERRIDES": {
        stage: override.model_dump(exclude_unset=True)
        for stage, override in env.IEIM_MODEL_OVERRIDES.items()
    },
    "BUDGET": {
        "input": env.IEIM_BUDGET_INPUT or None,
        "session": env.IEIM_BUDGET_SESSION or None,
        # The offline engine costs nothing.
        "day": (100_000_000 if env.IEIM_MODEL_BASE_URL else None)
        if env.IEIM_BUDGET_DAY is None
        else env.IEIM_BUDGET_DAY or None,
    },
    "LANGUAGES": env.IEIM_LANGUAGES,
    "KEY_PATTERNS": env.IEIM_KEY_PATTERNS,
}
# What turns texts into vectors. All but KIND is of the kind openai; DEADLINE is in seconds, for all
# that one question needs. White space around a prefix is lost in reading: one space follows it.
IEIM_EMBEDDINGS: dict[str, Any] = {
    "KIND": env.IEIM_EMBEDDINGS,
    "BASE_URL": env.IEIM_EMBEDDINGS_BASE_URL,
    "HAS_PROXY": bool(IEIM_PROXY_URL),
    "API_KEY": env.IEIM_EMBEDDINGS_API_KEY,
    "MODEL": env.IEIM_EMBEDDINGS_MODEL,
    "DEADLINE": env.IEIM_EMBEDDINGS_DEADLINE,
    "QUERY_PREFIX": f"{env.IEIM_EMBEDDINGS_QUERY_PREFIX} ".lstrip(),
    "DOCUMENT_PREFIX": f"{env.IEIM_EMBEDDINGS_DOCUMENT_PREFIX} ".lstrip(),
}

# --- People who review ---------------------------------------------------------------------------

# Opening and closing in minutes of the day, in TIME_ZONE; a country as ISO 3166; minutes.
IEIM_BUSINESS_HOURS = env.IEIM_BUSINESS_HOURS
IEIM_HOLIDAYS = env.IEIM_HOLIDAYS
IEIM_CHOICE_MINUTES = env.IEIM_CHOICE_MINUTES
IEIM_CLAIM_MINUTES = env.IEIM_CLAIM_MINUTES
IEIM_SAMPLES = env.IEIM_SAMPLES
# What needs a second person besides a crisis: agencies that have or had a part in a turn, and items
# whose message carries a label of one of the label sets.
IEIM_SECOND_OPINION = env.IEIM_SECOND_OPINION.model_dump()
# HOST is empty where nobody is told by e-mail. TIMEOUT is in seconds. OPERATORS are told of an
# outage of the model.
IEIM_MAIL: dict[str, Any] = {
    "HOST": env.IEIM_SMTP_HOST,
    "PORT": env.IEIM_SMTP_PORT or {"starttls": 587, "tls": 465, "none": 25}[env.IEIM_SMTP_SECURITY],
    "USER": env.IEIM_SMTP_USER,
    "PASSWORD": env.IEIM_SMTP_PASSWORD,
    "SECURITY": env.IEIM_SMTP_SECURITY,
    "TIMEOUT": env.IEIM_SMTP_TIMEOUT,
    "FROM": env.IEIM_MAIL_FROM or f"no-reply@{urlsplit(IEIM_PUBLIC_URL).hostname or 'localhost'}",
    "FROM_IS_SET": bool(env.IEIM_MAIL_FROM),
    "OPERATORS": env.IEIM_OPERATOR_MAIL,
}

# Who is told of the desk's alerts: addresses, and a webhook's name; and when, in minutes.
IEIM_ALERT_MAIL = env.IEIM_ALERT_MAIL
IEIM_ALERT_WEBHOOK = env.IEIM_ALERT_WEBHOOK
IEIM_ALERT_UNSEEN_MINUTES = env.IEIM_ALERT_UNSEEN_MINUTES
IEIM_ALERT_DUE_MINUTES = env.IEIM_ALERT_DUE_MINUTES

# --- Watching it ----------------------------------------------------------------------------------

# Who may read /metrics; empty where nobody may.
IEIM_METRICS_TOKEN = env.IEIM_METRICS_TOKEN
# How many worker processes there should be, 0 where nobody says; whether backups are made.
IEIM_WORKERS = env.IEIM_WORKERS
IEIM_BACKED_UP = env.IEIM_BACKED_UP
IEIM_LINK_CHECK = env.IEIM_LINK_CHECK
IEIM_PAGE_HOSTS = env.IEIM_PAGE_HOSTS
IEIM_PAGE_HEADINGS = env.IEIM_PAGE_HEADINGS
# Where spans are sent; empty for nowhere. OpenTelemetry's SDK reads its variables by itself.
IEIM_TRACES = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or env.OTEL_EXPORTER_OTLP_ENDPOINT
# Whether the audit record is sealed beside this site, so that a seal that never came is missed.
IEIM_SEALED = env.IEIM_SEALED

# --- How long it is kept -------------------------------------------------------------------------

# Days by kind of conversations.retention, None for no end.
IEIM_KEEP: dict[str, Any] = {
    "conversations": env.IEIM_KEEP_CONVERSATIONS or None,
    # As the others where it is not set.
    "decided": (
        env.IEIM_KEEP_CONVERSATIONS if env.IEIM_KEEP_DECIDED is None else env.IEIM_KEEP_DECIDED
    )
    or None,
    "deliveries": env.IEIM_KEEP_DELIVERIES or None,
    "outages": env.IEIM_KEEP_OUTAGES or None,
    "drafts": env.IEIM_KEEP_DRAFTS or None,
    "sign_ins": env.IEIM_KEEP_SIGN_INS or None,
}

# --- Applications --------------------------------------------------------------------------------

INSTALLED_APPS = [
    "ieim.config.apps.ConfigConfig",
    "review",
    "ieim.studio",
    "conversations",
    "ieim.administration",
    "ieim.knowledge",
    # Before ieim.people, which takes what these register out of the admin.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "ieim.people",
    "ieim.llm",
    "ieim.audit",
    "axes",
    "channels",
    "corsheaders",
    "csp",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "ieim.config.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "corsheaders.middleware.CorsMiddleware",
    "conversations.api.errors.problem_pages",
    "ieim.config.outage.outage_page",
    "django.middleware.security.SecurityMiddleware",
    "ieim.config.middleware.Compression",
    "ieim.config.middleware.StaticFiles",
    *(["ieim.config.monitoring.tracing.trace_requests"] if IEIM_TRACES else []),
    "ieim.config.middleware.never_cache_by_default",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "conversations.framing.in_a_frame",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "conversations.page_languages.page_language_middleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "ieim.config.middleware.wrong_method_page",
    "ieim.people.sessions.SessionTimeoutMiddleware",
    "ieim.people.access.AccessMiddleware",
    "ieim.config.bodies.too_large_page",
    "ieim.config.middleware.reject_nul_in_path",
]

ROOT_URLCONF = "ieim.config.urls"
ASGI_APPLICATION = "ieim.config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # Every page shows what citizens and models wrote: no template should have to ask.
            "builtins": ["conversations.templatetags.pages"],
        },
    },
]

# Staff's pages are in the first one, and whatever says nothing of languages; citizens choose.
LANGUAGE_CODE = "en-gb"
LANGUAGES = [
    (LANGUAGE_CODE, "English"),
    ("fr", "Français"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("zh-hans", "简体中文"),
    ("ar", "العربية"),
    ("fil", "Filipino"),
]
# Django knows no Filipino; browsers of old call it Tagalog.
LANG_INFO["fil"] = {"bidi": False, "code": "fil", "name": "Filipino", "name_local": "Filipino"}
LANG_INFO["tl"] = {"fallback": ["fil"]}
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = f"{IEIM_COOKIE_PREFIX}ieim_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = PRODUCTION
TIME_ZONE = env.IEIM_TIME_ZONE
USE_TZ = True

# --- Static files --------------------------------------------------------------------------------

# What `npm run build` made is served at the root of STATIC_URL (style sheets, govuk-frontend);
# our own ES modules and pictures are served as they are, under js/ and img/.
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [
    BASE_DIR / "static" / "build",
    ("js", BASE_DIR / "static" / "src" / "js"),
    ("img", BASE_DIR / "static" / "src" / "img"),
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not PRODUCTION
# Pages name files by their digests alone.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# WhiteNoise answers with a file, which Django reads whole under ASGI: right for files this small.
warnings.filterwarnings(
    "ignore", message="StreamingHttpResponse must consume", module="django.core.handlers.asgi"
)

# --- Staff accounts ------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "staff_home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_NAME = f"{IEIM_COOKIE_PREFIX}sessionid"
SESSION_ENGINE = "ieim.people.sessions"
# A session ends when nobody has used it for so long, and at the latest after so long.
IEIM_SESSION_IDLE_SECONDS = 60 * env.IEIM_SESSION_IDLE_MINUTES
SESSION_COOKIE_AGE = 3600 * env.IEIM_SESSION_HOURS
# ISSUER is empty where there is no OpenID provider. GROUPS maps a group of the provider to the
# roles and agencies that it gives.
IEIM_OPENID: dict[str, Any] = {
    "ISSUER": env.IEIM_OPENID_ISSUER,
    "CLIENT_ID": env.IEIM_OPENID_CLIENT_ID,
    "CLIENT_SECRET": env.IEIM_OPENID_CLIENT_SECRET,
    "NAME": env.IEIM_OPENID_NAME,
    "SCOPES": env.IEIM_OPENID_SCOPES,
    "GROUPS_CLAIM": env.IEIM_OPENID_GROUPS_CLAIM,
    "GROUPS": {name: group.model_dump() for name, group in env.IEIM_OPENID_GROUPS.items()},
}
IEIM_PASSWORDS = env.IEIM_PASSWORDS
# Of allauth: the steps of signing in. Accounts are made by us, and it knows no e-mail addresses.
ACCOUNT_ADAPTER = "ieim.people.login.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*"]
SOCIALACCOUNT_ADAPTER = "ieim.people.openid.SocialAccountAdapter"
ACCOUNT_RATE_LIMITS = {"reset_password": "20/h/ip,3/h/key", "provider_logout": "600/m/ip"}
IEIM_MFA_ROLES = env.IEIM_MFA_ROLES
MFA_ADAPTER = "ieim.people.factors.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1  # the clock of a telephone may be half a minute off
MFA_RECOVERY_CODES_SHOW_ONCE = True
# The 100,000 commonest of eight or more characters in public breaches; docs/licences.md says whose.
_COMMON = {"password_list_path": BASE_DIR / "ieim" / "people" / "common-passwords.txt.gz"}
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {}),
        ("CommonPasswordValidator", _COMMON),
        ("NumericPasswordValidator", {}),
    )
]
# How long a link to choose a password is good, in seconds.
PASSWORD_RESET_TIMEOUT = 24 * 3600
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Wrong passwords of an account, and of an address: an office has one for many people. The time
# counts from the last one that was looked at; while it is locked, none is.
AXES_HANDLER = "ieim.people.lockout.Handler"
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]
AXES_FAILURE_LIMIT = 10
IEIM_ADDRESS_FAILURE_LIMIT = 50
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "ieim.people.lockout.client_address"
AXES_LOCKOUT_CALLABLE = "ieim.people.lockout.locked"
AXES_ENABLE_ADMIN = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    # Closed unless a view opens itself.
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
# The OpenAPI document and its page.
SPECTACULAR_SETTINGS = {
    "VERSION": IEIM_VERSION,
    "TITLE": "IEIM",
    "DESCRIPTION": (
        "Conversations of citizens with a public administration. Make a session, send a message, "
        "read the turn until it is answered. Reviewers decide what waits for a person. Errors are "
        "problem details (RFC 9457)."
    ),
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "TurnState": "review.api.serializers.TURN_STATES",
        "ReviewState": "review.api.serializers.STATES",
        "Action": "review.api.serializers.ACTIONS",
        "RecordedAction": "review.api.serializers.RECORDED",
        "GapActionKind": "ieim.studio.api.serializers.GAP_ACTIONS",
        "DictionaryAction": "ieim.studio.api.serializers.DICTIONARY_ACTIONS",
        "Score": "review.quality.api.SCORES",
        "FeedbackReason": "conversations.api.serializers.REASONS",
        "PersonRequestState": "conversations.api.serializers.REQUEST_STATES",
        "RunState": "ieim.studio.models.Run.State",
        "WebPageState": "ieim.studio.models.WebPage.State",
        "WebhookEvent": "conversations.api.serializers.EVENTS",
    },
    "WEBHOOKS": ["conversations.api.schema.turn_event"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True},
}

# --- Browser security ----------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # Older browsers do not count a websocket as 'self'.
        "connect-src": [SELF, *filter(None, [IEIM_PUBLIC_URL.replace("http", "ws", 1)])],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"  # pages below /embed/ name the sites of the settings instead
# What scripts of other sites may ask for, with a token and never with a cookie:
# conversations.framing says which sites.
CORS_URLS_REGEX = r"^/api/v1/(sessions|turns|administration)/"
CORS_ALLOW_METHODS = ["GET", "POST", "PUT", "DELETE"]
CORS_ALLOW_HEADERS = ["authorization", "content-type"]
CORS_EXPOSE_HEADERS = ["location", "retry-after", "content-language"]
PERMISSIONS_POLICY: dict[str, list[str]] = {
    feature: [] for feature in ("camera", "geolocation", "microphone", "payment", "usb")
}
# A resume link is a secret: no other site may learn it from a Referer.
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_NAME = f"{IEIM_COOKIE_PREFIX}csrftoken"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "ieim.people.csrf.csrf_failure"
# TLS ends at a proxy, if there is one.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IEIM_TRUSTED_PROXIES else None
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if PRODUCTION else 0
# What a browser has learnt of a whole domain it forgets after a year: nobody learns it by default.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.IEIM_HSTS_SUBDOMAINS
SECURE_HSTS_PRELOAD = env.IEIM_HSTS_PRELOAD
# Django's deployment check would have both.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# --- Celery --------------------------------------------------------------------------------------

CELERY_BROKER_URL = IEIM_REDIS_URL or "memory://localhost/"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker that dies gives its turn back: the lease and the checkpoints make a second run harmless.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A turn is a thread that mostly waits; see conversations.turns.executor for how many work.
CELERY_WORKER_CONCURRENCY = env.IEIM_WORKER_TURNS or (200 if IEIM_EMBEDDED else 500)
CELERY_TASK_IGNORE_RESULT = True
# One queue; a misspelt one is refused, not made.
CELERY_TASK_DEFAULT_QUEUE = "turns"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# For what Celery does not expect of a broker that goes away.
CELERY_WORKER_CONSUMER = "ieim.config.consumer:LastingConsumer"
# The memory broker looks for a new task this often; its own 1 s would be felt.
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"polling_interval": 0.01}
if IEIM_REDIS_URL:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # Seconds. Above the longest turn, or a turn still running would be given out a second time:
        # six stages and triage, two attempts each.
        "visibility_timeout": max(600, round(14 * env.IEIM_MODEL_DEADLINE)),
        # How soon a dead worker's turn is noticed once that time is over.
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }
# Seconds between two sweeps; one that waited until the next is due has nothing left to do.
SWEEP_EVERY = 5.0
# Retention is done once a day; asked for more often, because a day on which beat or a worker is
# away at one certain minute counts too.
RETAIN_EVERY = 600.0
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": seconds, "options": {"expires": seconds}}
    for task, seconds in (
        ("conversations.tasks.sweep", SWEEP_EVERY),
        ("conversations.tasks.retain", RETAIN_EVERY),
    )
}

# --- Logging -------------------------------------------------------------------------------------

LOGGING = logs.configuration(
    env.IEIM_LOG_LEVEL or ("INFO" if PRODUCTION else "WARNING"),
    env.IEIM_LOG_FORMAT,
    words=not PRODUCTION,
)
