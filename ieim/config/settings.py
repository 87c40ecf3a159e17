"""Django's settings, for development and production alike: the environment alone tells them apart.

Development needs no variable at all. Production (``IEIM_ENV=production``) refuses to start until
every variable that it needs is set, and says which are missing.
"""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.conf.locale import LANG_INFO

from ieim.config import environment, logs, sign_in
from ieim.config.env import Env

BASE_DIR = Path(__file__).resolve().parent.parent.parent
IEIM_VERSION = environment.version(BASE_DIR / "pyproject.toml")

env = Env(os.environ)
PRODUCTION = env.choice("IEIM_ENV", ["development", "production"], "development") == "production"
DEBUG = not PRODUCTION

# --- Where it is reached -------------------------------------------------------------------------

SECRET_KEY = environment.secret_key(env, required=PRODUCTION)
SECRET_KEY_FALLBACKS = environment.secret_key_fallbacks(env, SECRET_KEY, required=PRODUCTION)
# The one origin that browsers use; empty in development, where any loopback port will do.
IEIM_PUBLIC_URL = environment.public_url(env, required=PRODUCTION)
ALLOWED_HOSTS = environment.allowed_hosts(env, IEIM_PUBLIC_URL, required=PRODUCTION)
IEIM_WEBSOCKET_ORIGINS = [IEIM_PUBLIC_URL] if IEIM_PUBLIC_URL else environment.LOOPBACK
CSRF_TRUSTED_ORIGINS = [IEIM_PUBLIC_URL] if IEIM_PUBLIC_URL else []
# How many proxies stand in front. Without any, no header says where a request comes from.
IEIM_TRUSTED_PROXIES = int(env.number("IEIM_TRUSTED_PROXIES", 0, low=0, high=9))
# With it browsers take a cookie only from this host itself, over TLS, for all of its addresses.
IEIM_COOKIE_PREFIX = "__Host-" if PRODUCTION else ""
# Only `manage.py serve` listens by itself; production gives the port to uvicorn.
IEIM_PORT = int(env.number("PORT", 8000, low=1, high=65535))

# --- Data ----------------------------------------------------------------------------------------

IEIM_DATA_DIR = environment.data_dir(env, BASE_DIR / "var")
# Whether what goes to services on other machines has to be encrypted.
_TLS = not env.flag("IEIM_PRIVATE_NETWORK", default=False) and PRODUCTION
DATABASES = {"default": environment.database(env, IEIM_DATA_DIR, required=PRODUCTION, tls=_TLS)}
AUTH_USER_MODEL = "people.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Without Redis everything stays in this process: broker, channel layer and worker (embedded.py).
IEIM_REDIS_URL = environment.redis_url(env, required=PRODUCTION, tls=_TLS)
IEIM_EMBEDDED = not IEIM_REDIS_URL
CHANNEL_LAYERS = {"default": environment.channel_layer(IEIM_REDIS_URL)}
CACHES = {"default": environment.cache(IEIM_REDIS_URL)}
# What every citizen's page says to call when a life is in danger.
IEIM_EMERGENCY_NUMBER = environment.emergency_number(env)
# How often one may come, by scope: a number and seconds, or None.
IEIM_RATES = environment.rates(env)
# Open pages of an address in each process; 0 is no limit.
IEIM_ADDRESS_SOCKETS = int(env.number("IEIM_ADDRESS_SOCKETS", 200, low=0, high=1_000_000))

# --- The model -----------------------------------------------------------------------------------

# BASE_URL is empty for the offline engine. See ieim.config.environment for the keys.
IEIM_MODEL = environment.model(env)
IEIM_EMBEDDINGS = environment.embeddings(env)

# --- People who review ---------------------------------------------------------------------------

# Opening and closing in minutes of the day, in TIME_ZONE; a country as ISO 3166; minutes.
IEIM_BUSINESS_HOURS = environment.business_hours(env)
IEIM_HOLIDAYS = environment.holidays(env)
IEIM_CHOICE_MINUTES = int(env.number("IEIM_CHOICE_MINUTES", 30, low=1, high=7 * 24 * 60))
IEIM_CLAIM_MINUTES = int(env.number("IEIM_CLAIM_MINUTES", 15, low=2, high=24 * 60))
IEIM_SECOND_OPINION = environment.second_opinion(env)
# HOST is empty where nobody is told by e-mail. See ieim.config.environment for the keys.
IEIM_MAIL = environment.mail(env, public_url=IEIM_PUBLIC_URL)

# --- Watching it ----------------------------------------------------------------------------------

# Who may read /metrics; empty where nobody may.
IEIM_METRICS_TOKEN = environment.metrics_token(env)
# Where spans are sent; empty for nowhere.
IEIM_TRACES = environment.traces(env)
# Whether the audit record is sealed beside this site, so that a seal that never came is missed.
IEIM_SEALED = env.flag("IEIM_SEALED", default=False)

# --- How long it is kept -------------------------------------------------------------------------

# Days by kind, None for no end.
IEIM_KEEP = environment.keep(env)

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
    "whitenoise.middleware.WhiteNoiseMiddleware",
    *(["ieim.config.monitoring.tracing.requests"] if IEIM_TRACES else []),
    "ieim.config.middleware.kept_by_nobody",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "conversations.framing.in_a_frame",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "conversations.page_languages.in_its_language",
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
    "ieim.config.bodies.not_taken_page",
    "ieim.config.middleware.no_nul_in_addresses",
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
TIME_ZONE = environment.time_zone(env)
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
IEIM_SESSION_IDLE_SECONDS = 60 * int(env.number("IEIM_SESSION_IDLE_MINUTES", 60, low=5, high=1440))
SESSION_COOKIE_AGE = 3600 * int(env.number("IEIM_SESSION_HOURS", 12, low=1, high=720))
# ISSUER is empty where there is no OpenID provider. See ieim.config.sign_in for the keys.
IEIM_OPENID = sign_in.openid(env, production=PRODUCTION)
IEIM_PASSWORDS = sign_in.passwords(env, issuer=IEIM_OPENID["ISSUER"])
# Of allauth: the steps of signing in. Accounts are made by us, and it knows no e-mail addresses.
ACCOUNT_ADAPTER = "ieim.people.login.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*"]
SOCIALACCOUNT_ADAPTER = "ieim.people.openid.SocialAccountAdapter"
ACCOUNT_RATE_LIMITS = {"reset_password": "20/h/ip,3/h/key", "provider_logout": "600/m/ip"}
IEIM_MFA_ROLES = sign_in.mfa_roles(env, production=PRODUCTION)
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
        "FeedbackReason": "conversations.api.serializers.REASONS",
        "PersonRequestState": "conversations.api.serializers.REQUEST_STATES",
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
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("IEIM_HSTS_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.flag("IEIM_HSTS_PRELOAD", default=False)
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
CELERY_WORKER_CONCURRENCY = int(
    env.number("IEIM_WORKER_TURNS", 200 if IEIM_EMBEDDED else 500, low=1, high=2000)
)
CELERY_TASK_IGNORE_RESULT = True
# One queue; a misspelt one is refused, not made.
CELERY_TASK_DEFAULT_QUEUE = "turns"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = environment.broker_options(
    IEIM_REDIS_URL, deadline=IEIM_MODEL["DEADLINE"]
)
# Seconds between two sweeps; one that waited until the next is due has nothing left to do.
SWEEP_EVERY = 5.0
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": SWEEP_EVERY, "options": {"expires": SWEEP_EVERY}}
    for task in (
        "conversations.tasks.sweep",
        "conversations.tasks.sweep_mail",
        "ieim.studio.tasks.sweep",
    )
}
# Done once a day; asked for more often, because a day on which beat or a worker is away at one
# certain minute counts too.
RETAIN_EVERY = 600.0
CELERY_BEAT_SCHEDULE["conversations.tasks.retain"] = {
    "task": "conversations.tasks.retain",
    "schedule": RETAIN_EVERY,
    "options": {"expires": RETAIN_EVERY},
}

# --- Logging -------------------------------------------------------------------------------------

LOGGING = logs.configuration(
    env.choice("IEIM_LOG_LEVEL", logs.LEVELS, "INFO" if PRODUCTION else "WARNING"),
    env.choice("IEIM_LOG_FORMAT", logs.FORMATS, "text"),
    words=not PRODUCTION,
)

env.check()
