"""Gridlot's settings, in Django's order. Each setting of our own says what it does and why that default."""

import os
import sys
from typing import Any

import django_stubs_ext
from django.utils.csp import CSP
from psycopg import IsolationLevel

from .env import BASE_DIR, data_dir, env, local_secret

django_stubs_ext.monkeypatch()  # models and admins name what they hold, as types

DEBUG = env.bool("DEBUG", default=False)
TESTING = "pytest" in sys.modules

# DATA_DIR: database file, secrets, simulated chain, collected static files. Beside the code, so that a clone is whole.
DATA_DIR = data_dir()
# bitcoinlib writes ~/.bitcoinlib when imported unless told where.
os.environ.setdefault("BCL_DATA_DIR", str(DATA_DIR / "bitcoinlib"))

SECRET_KEY = env.str("SECRET_KEY", default="") or local_secret(DATA_DIR, "secret_key")
# FIELD_KEYS: encrypt access information at rest. The first encrypts, all decrypt: put a new one in front to rotate.
FIELD_KEYS = env.list("FIELD_KEYS", default=[]) or [local_secret(DATA_DIR, "field_key")]
# ADDRESS_SEAL_KEY: signs each reserved address, so that a changed database row is noticed. Not SECRET_KEY: a leak of
# one must not give the other.
ADDRESS_SEAL_KEY = env.str("ADDRESS_SEAL_KEY", default="") or local_secret(DATA_DIR, "address_seal_key")
# RECEIPT_KEYS: sign receipts. The first signs, all public halves are published: put a new one in front to rotate.
RECEIPT_KEYS = env.list("RECEIPT_KEYS", default=[]) or [local_secret(DATA_DIR, "receipt_key")]

ALLOWED_HOSTS = [h.strip() for h in env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])]
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# HTTPS: the site is served over TLS. Off by default, since a fresh machine has no certificate.
HTTPS = env.bool("HTTPS", default=False)

INSTALLED_APPS = [
    "config.apps.GridlotConfig",
    "money.apps.MoneyConfig",
    "events.apps.EventsConfig",
    "accounts.apps.AccountsConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "catalog.apps.CatalogConfig",
    "balance.apps.BalanceConfig",
    "orders.apps.OrdersConfig",
    "conversations.apps.ConversationsConfig",
    "payments.apps.PaymentsConfig",
    "provisioning.apps.ProvisioningConfig",
    "support.apps.SupportConfig",
    "journal.apps.JournalConfig",  # last: its post_migrate is the signal that every table is there
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "config.private.private_pages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "accounts.preferences.preferences",
    "accounts.second_factor.staff_gate",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.context.site",
                "config.context.staff",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.static", "money.templatetags.money"],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# --- database ---------------------------------------------------------------------------------------------------
DATABASES: dict[str, Any] = {"default": env.database("DATABASE_URL", file=DATA_DIR / "db.sqlite3")}
_database = DATABASES["default"]
if "sqlite3" in _database["ENGINE"]:
    # IMMEDIATE: one writer at a time, no "database is locked" half way. FULL: a power cut loses no commit of a ledger.
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA temp_store=MEMORY;"
        "PRAGMA cache_size=-20000;PRAGMA mmap_size=134217728;PRAGMA journal_size_limit=67108864",
    }
    _database["CONN_MAX_AGE"] = None  # a thread keeps its own: closing and opening took a fifth of a request
    _database["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # a file: threads and processes need real locks
else:
    # Eight web threads, and the embedded worker and beat.
    _database.setdefault("OPTIONS", {})["pool"] = {"min_size": 1, "max_size": 10, "timeout": 10}
    # Whatever the server's default is: "lock, then look again" means to see what others have committed meanwhile.
    _database["OPTIONS"]["isolation_level"] = IsolationLevel.READ_COMMITTED
    # DATABASE_PREPARES: connections have PostgreSQL plan a statement once and not each time, which takes a third of its
    # work away. Off behind a pooler that does not know prepared statements (PgBouncer before 1.21).
    if env.bool("DATABASE_PREPARES", default=True):
        _database["OPTIONS"] |= {"server_side_binding": True, "prepare_threshold": 3}
    _database["CONN_MAX_AGE"] = 0  # must be 0 with psycopg's pool
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# REDIS_URL: broker and cache for several processes. Without it one process does everything.
REDIS_URL = env.str("REDIS_URL", default="")
# REDIS_OPTIONS: a cache that does not answer fails at once; without limits its silence keeps every web thread for ever.
REDIS_OPTIONS = {"socket_connect_timeout": 1.0, "socket_timeout": 1.0}
CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": REDIS_OPTIONS,
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# --- tasks ------------------------------------------------------------------------------------------------------
EMBEDDED_TASKS = not REDIS_URL
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.1} if EMBEDDED_TASKS else {"visibility_timeout": 600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_PUBLISH_RETRY = False  # a message is only a hint, the schedule finds the work: never make a page wait
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat")

# --- accounts ---------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.backends.Backend"]
SESSION_ENGINE = "accounts.session_store"
PASSWORD_HASHERS = ["accounts.hashers.Argon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "accounts.validators.LengthValidator"},
    {"NAME": "accounts.validators.OwnDataValidator"},
    {"NAME": "accounts.validators.CommonPasswordValidator"},
]
# ACC-1: counted in code points, so an emoji or a letter with its mark counts as a person would type it.
PASSWORD_MIN_LENGTH, PASSWORD_MAX_LENGTH = 15, 128
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "orders:list"
LOGOUT_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "signup": "accounts.forms.SignUpForm",
    "login": "accounts.forms.SignInForm",
    "change_password": "accounts.forms.ChangePasswordForm",
}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]  # once: it can be shown, and a manager types it
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_REAUTHENTICATION_METHODS = {"password", "mfa"}  # not "code": that one needs e-mail
ACCOUNT_SESSION_REMEMBER = True
# SIGNUP_REFUSALS_PER_HOUR: how often registration may say, all in all, that data can't be used; it bounds what it tells
# about taken addresses (ACC-4). Then registration pauses for everybody; sign-in never does.
SIGNUP_REFUSALS_PER_HOUR = 60
# SUPPORT_LOOKUPS_PER_HOUR: look-ups of one person at the support desk: more than anybody's work needs, and too few to
# read through the customers. SUPPORT_LOOKUP_HOURS: how long what was looked up stays open: a working day.
SUPPORT_LOOKUPS_PER_HOUR, SUPPORT_LOOKUP_HOURS = 120, 8
ACCOUNT_RATE_LIMITS = {
    "login": "",  # counted by our own view, as the next two
    "sign_in": "30/m/ip",
    "sign_in_known": "30/m/key",
    "login_failed": "10/m/ip,10/5m/key",
    "login_failed_known": "10/5m/key",
    "login_with_code": "10/m/ip",
    "signup": "10/m/ip",
    "signup_refused": f"{SIGNUP_REFUSALS_PER_HOUR}/h/key",
    "address": "10/h/key",  # a change of address tells as much about addresses as a registration does
    "recover": "10/m/ip",
    "guest": "30/m/ip",
    "support_lookup": f"{SUPPORT_LOOKUPS_PER_HOUR}/h/key",
}
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False  # the session that changed it stays, every other one ends
MFA_RATE_LIMITS = {"webauthn_login": "60/m/ip"}  # there is nothing to guess: this keeps machines from being busy
MFA_ADAPTER = "accounts.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody verifies an e-mail here
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "add_webauthn": "accounts.forms.AddPasskeyForm",
    "edit_webauthn": "accounts.forms.RenamePasskeyForm",
}
MFA_TOTP_TOLERANCE = 1  # a clock may be half a minute off; each code still works once
USERSESSIONS_TRACK_ACTIVITY = False  # a write at every request
# STAFF_SECOND_FACTOR: staff pages open only for sessions that have shown a second factor (ACC-8). Off in the demo.
STAFF_SECOND_FACTOR = env.bool("STAFF_SECOND_FACTOR", default=env.str("NETWORKS", default="simulated") == "real")
# STAFF_PROOF_HOURS: how long that showing counts: a working day. Then it is asked for again.
STAFF_PROOF_HOURS = 12
# RECOVERY_HOURS: from opening a recovery of a lost account until an owner may complete it. A week: time to notice it.
RECOVERY_HOURS = 7 * 24
# TERMS_VERSION: the terms and the refund policy in force now. Change it with their text: customers are asked again.
TERMS_VERSION = env.str("TERMS_VERSION", default="2026-11-01")
# CONTACT_RETENTION_DAYS: how long orders of a closed account keep name and address: time for a claim to come up.
CONTACT_RETENTION_DAYS = 365
# GUEST_ITEMS_LIMIT: journal cards, and kept choices, that one guest may have. A guest is a browser without an account.
GUEST_ITEMS_LIMIT = 50
# --- API --------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api_door.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api_door.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.api_door.TokenThrottle"],
    "DEFAULT_THROTTLE_RATES": {"token": "120/min"},
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}
# TRUSTED_PROXY_COUNT: proxies in front of us whose X-Forwarded-For is believed. 0: none, so nobody fakes an address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", default=0)

# --- mail -------------------------------------------------------------------------------------------------------
# EMAIL_URL: your mail server: smtps://user:password@host (TLS), smtp+tls://… (STARTTLS), or smtp://host for one on this
# machine, without a password. None: no mail is sent.
EMAIL_URL = env.str("EMAIL_URL", default="")
MAILERS = {"default": env.mailer("EMAIL_URL")}
# EMAIL_FROM: the sender of mails.
DEFAULT_FROM_EMAIL = EMAIL_FROM = env.str("EMAIL_FROM", default="gridlot@localhost")

# --- languages --------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ru", "Русский")]  # Polish and Vietnamese join when they are complete
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_THOUSAND_SEPARATOR = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- static files -----------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG or TESTING  # looks when asked, and not for all at each start
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# --- security headers -------------------------------------------------------------------------------------------
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "manifest-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "object-src": [CSP.NONE],
}
PERMISSIONS_POLICY: dict[str, Any] = {
    name: []
    for name in (
        "accelerometer camera display-capture geolocation gyroscope magnetometer microphone payment usb"
    ).split()
} | {"publickey-credentials-get": "self", "publickey-credentials-create": "self"}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:
    SESSION_COOKIE_NAME = "__Host-session"
    CSRF_COOKIE_NAME = "__Host-csrf"
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 31536000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", default=False)
    SILENCED_SYSTEM_CHECKS = ["security.W021"]  # preloading is the operator's own choice, and hard to take back
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- logs -------------------------------------------------------------------------------------------------------
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.log_level("LOG_LEVEL", default="WARNING")},
    "loggers": {"django": {"handlers": [], "level": "INFO"}, "django.server": {"handlers": [], "propagate": True}},
}

# --- the installation -------------------------------------------------------------------------------------------
# BRAND: the name that customers read. The software's own by default.
BRAND = env.str("BRAND", default="Gridlot")
# ORDER_NUMBER_PREFIX: stands before each order number, so that a number read out over the phone names its shop.
ORDER_NUMBER_PREFIX = env.str("ORDER_NUMBER_PREFIX", default="GL")
# TOPUP_NUMBER_PREFIX: stands before the reference of each top-up, so that nobody takes it for an order.
TOPUP_NUMBER_PREFIX = env.str("TOPUP_NUMBER_PREFIX", default="TU")
# PAYOUT_NUMBER_PREFIX: stands before the reference of each payout and refund.
PAYOUT_NUMBER_PREFIX = env.str("PAYOUT_NUMBER_PREFIX", default="PO")
# SUPPORT_CONTACT: where a person who needs help is sent, as text. Empty: pages point to the order itself.
SUPPORT_CONTACT = env.str("SUPPORT_CONTACT", default="")

# SITE_URL: where the site is reached, e.g. https://shop.example, for links in messages: workers know no address. Empty:
# messages name the page without its host.
SITE_URL = env.str("SITE_URL", default="").rstrip("/")
# OPERATOR_EMAILS: who is told by mail when something needs a person. None: nobody.
OPERATOR_EMAILS = [address.strip() for address in env.list("OPERATOR_EMAILS", default=[])]
# OPERATOR_WEBHOOK: an address that the same news are posted to as JSON. None: nobody.
OPERATOR_WEBHOOK = env.str("OPERATOR_WEBHOOK", default="")
# NOTICE_PAUSE_SECONDS: after a message what follows gathers for so long and goes out as one: a flood is no news.
NOTICE_PAUSE_SECONDS = 300
# HEARTBEAT_SECONDS: how often a worker notes that it lives. HEARTBEAT_OLD_SECONDS: without a note for so long every
# staff page says so. Six notes: a worker that asks a slow node misses one or two.
HEARTBEAT_SECONDS, HEARTBEAT_OLD_SECONDS = 10.0, 60

# EVENT_HANDLERS: the table of who reacts to which event; a path, so that `events` imports nothing above it.
EVENT_HANDLERS = "config.events.HANDLERS"

# --- orders -----------------------------------------------------------------------------------------------------
# STOCK_LOW: with so few lots left an offer is named on the operators' first page.
STOCK_LOW = 1
# HOLD_MINUTES: how long a saved order keeps its lots without payment instructions (ORD-6).
HOLD_MINUTES = 60
# HOLD_GRACE_HOURS: a live intent keeps the hold at most this long past its `expires_at` (ORD-6).
HOLD_GRACE_HOURS = 24
# HOLD_RENEWAL_HOURS: instructions asked for later than this after saving no longer prolong the hold: else a free lock.
HOLD_RENEWAL_HOURS = 3
# HELD_LOTS_LIMIT: lots that one customer, or one client address, may hold unpaid: two full orders. More is a free lock.
HELD_LOTS_LIMIT = 20
# ORDER_EXPIRY_DAYS: an order that nobody pays expires. Two weeks: a wire to an exchange takes that long at worst.
ORDER_EXPIRY_DAYS = 14

# --- payments ---------------------------------------------------------------------------------------------------
# NETWORKS: "simulated" (demo money) or "real". An installation is born as one of them and never becomes the other.
NETWORKS_KIND = env.str("NETWORKS", default="simulated")
# NETWORKS_OFFERED: which networks customers see, e.g. "bitcoin,ethereum". None: those with a node in the settings; all
# in a demo. Web processes that know no node need it.
NETWORKS_OFFERED = [name.strip() for name in env.list("NETWORKS_OFFERED", default=[])]
# BITCOIN_RPC_URL: your Bitcoin node: http://user:password@host:port for its JSON-RPC, or esplora+https://host/api.
BITCOIN_RPC_URL = env.str("BITCOIN_RPC_URL", default="")
# BITCOIN_CHAIN: the chain the node must be on: main, test or regtest.
BITCOIN_CHAIN = env.str("BITCOIN_CHAIN", default="main")
# BITCOIN_XPUB: account-level extended *public* key; its kind says the kind of the addresses (zpub: bc1).
BITCOIN_XPUB = env.str("BITCOIN_XPUB", default="")
# BITCOIN_SECOND_URL: another provider, which must confirm large transfers too. None: only one is asked.
BITCOIN_SECOND_URL = env.str("BITCOIN_SECOND_URL", default="")
# LITECOIN_RPC_URL: your Litecoin node: http://user:password@host:port for its JSON-RPC, or esplora+https://host/api.
LITECOIN_RPC_URL = env.str("LITECOIN_RPC_URL", default="")
# LITECOIN_CHAIN: the chain the node must be on: main, test or regtest.
LITECOIN_CHAIN = env.str("LITECOIN_CHAIN", default="main")
# LITECOIN_XPUB: account-level extended *public* key; its kind says the kind of the addresses (zpub: ltc1).
LITECOIN_XPUB = env.str("LITECOIN_XPUB", default="")
# LITECOIN_SECOND_URL: another provider, which must confirm large transfers too. None: only one is asked.
LITECOIN_SECOND_URL = env.str("LITECOIN_SECOND_URL", default="")
# ETHEREUM_RPC_URL: the JSON-RPC endpoint of your Ethereum node, used by workers only.
ETHEREUM_RPC_URL = env.str("ETHEREUM_RPC_URL", default="")
# ETHEREUM_CHAIN_ID: the chain the node must be on. 1 is mainnet.
ETHEREUM_CHAIN_ID = env.int("ETHEREUM_CHAIN_ID", default=1)
# ETHEREUM_XPUB: account-level extended *public* key (m/44'/60'/0'); only the worker needs it.
ETHEREUM_XPUB = env.str("ETHEREUM_XPUB", default="")
# USDT_ETHEREUM_CONTRACT: the token contract whose logs count as USDT. Tether's on mainnet.
USDT_ETHEREUM_CONTRACT = env.str("USDT_ETHEREUM_CONTRACT", default="0xdAC17F958D2ee523a2206206994597C13D831ec7")
# USDC_ETHEREUM_CONTRACT: the token contract whose logs count as USDC. Circle's on mainnet.
USDC_ETHEREUM_CONTRACT = env.str("USDC_ETHEREUM_CONTRACT", default="0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
# ETHEREUM_SECOND_URL: another provider, which must confirm large transfers too. None: only one is asked.
ETHEREUM_SECOND_URL = env.str("ETHEREUM_SECOND_URL", default="")
# SOLANA_RPC_URL: the JSON-RPC endpoint of your Solana node, used by workers only. It must keep transaction history.
SOLANA_RPC_URL = env.str("SOLANA_RPC_URL", default="")
# SOLANA_CLUSTER: the cluster the node must be on: mainnet, devnet, or local (any).
SOLANA_CLUSTER = env.str("SOLANA_CLUSTER", default="mainnet")
# SOLANA_KEY: your *public* key, from which addresses are made, or file:/path of a list of addresses; only the worker
# needs it.
SOLANA_KEY = env.str("SOLANA_KEY", default="")
# SOLANA_SECOND_URL: another provider, which must confirm large transfers too. None: only one is asked.
SOLANA_SECOND_URL = env.str("SOLANA_SECOND_URL", default="")
# TRON_RPC_URL: the HTTP endpoint of your java-tron node, or of a provider, with wallet/ and walletsolidity/ below it.
TRON_RPC_URL = env.str("TRON_RPC_URL", default="")
# TRON_API_KEY: sent along to that endpoint, as TronGrid asks for it. None: no key is sent, and never a library's.
TRON_API_KEY = env.str("TRON_API_KEY", default="")
# TRON_XPUB: account-level extended *public* key (m/44'/195'/0'); only the worker needs it.
TRON_XPUB = env.str("TRON_XPUB", default="")
# USDT_TRON_CONTRACT: the token contract whose events count as USDT. Tether's on mainnet.
USDT_TRON_CONTRACT = env.str("USDT_TRON_CONTRACT", default="TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")
# TRON_SECOND_URL: another provider, which must confirm large transfers too. None: only one is asked.
TRON_SECOND_URL = env.str("TRON_SECOND_URL", default="")
# SIMULATED_BLOCK_SECONDS: the simulated chain mines a block this often: quick enough to watch, slow enough to follow.
SIMULATED_BLOCK_SECONDS = env.float("SIMULATED_BLOCK_SECONDS", default=3.0)
# WATCH_SECONDS: how often a worker reads each network. Shorter than any block time here.
WATCH_SECONDS = env.float("WATCH_SECONDS", default=1.0 if NETWORKS_KIND == "simulated" else 4.0)
# DEMO_RATES: what the demo's money is worth. Round numbers, so that everybody sees that they are made up.
DEMO_RATES = {"BTC": "100000", "LTC": "100", "ETH": "3000", "USDT": "1", "USDC": "1", "TRX": "0.25", "SOL": "200"}
# FIXED_RATES: USD per whole coin, e.g. "ETH=3000,USDT=1", for RATE_SOURCES=fixed: the demo, private chains.
FIXED_RATES = env.dict("FIXED_RATES", default=DEMO_RATES if NETWORKS_KIND == "simulated" else {})
# RATE_SOURCES: who is asked for prices (payments/rates/table.py), or "fixed" alone: then the operator says them.
RATE_SOURCES = env.list(
    "RATE_SOURCES",
    default=["fixed"] if NETWORKS_KIND == "simulated" else ["kraken", "coinbase", "bitstamp", "bitfinex", "coingecko"],
)
# RATE_QUORUM: how many sources must agree for a quote: two, so that no single one makes a price. The operator may.
RATE_QUORUM = 1 if RATE_SOURCES == ["fixed"] else 2
# RATE_APART_BASIS_POINTS: a source further from the median than this does not count: markets differ by far less.
RATE_APART_BASIS_POINTS = 200
# RATE_SANE_RANGE: USD for a whole coin, lowest and highest. A price outside is a fault (a 1 that stands for "none",
# cents for dollars, another coin) and never counts. Wide: some ten times beyond what each coin cost in its last years.
RATE_SANE_RANGE = {
    "BTC": ("1000", "10000000"),
    "LTC": ("5", "10000"),
    "ETH": ("50", "100000"),
    "USDT": ("0.5", "2"),
    "USDC": ("0.5", "2"),
    "TRX": ("0.01", "10"),
    "SOL": ("2", "20000"),
}
# STABLE_RANGE: a stablecoin worth less or more USD than this is on the move: no new promises in it.
STABLE_RANGE = ("0.98", "1.02")
# RATE_MAX_AGE_SECONDS: an older price gives no quote.
RATE_MAX_AGE_SECONDS = 120
# RATE_SAMPLE_SECONDS: how often each source is asked: several times within RATE_MAX_AGE_SECONDS, and no more than free
# public addresses allow.
RATE_SAMPLE_SECONDS = 20
# MARKUP_BASIS_POINTS: added to the price of volatile and stable assets, printed on the page.
MARKUP_BASIS_POINTS = {"volatile": 100, "stable": 30}
# INTENT_MINUTES: how long a rate is promised. Coins that move: 15 minutes; stablecoins, and whatever is sent from an
# exchange: 60.
INTENT_MINUTES = {"volatile": 15, "stable": 60, "exchange": 60}
# LIVE_INTENTS_LIMIT: live payment instructions of one order.
LIVE_INTENTS_LIMIT = 3
# INTENTS_PER_HOUR: payment instructions of one customer. Each uses up an address for ever: without a limit one person
# empties the reserve for all, and drives the index beyond what the operator's wallet looks at (its gap limit).
INTENTS_PER_HOUR = 20
# TOLERANCE_*: an amount short by no more than this counts as whole: wallets cut digits. (basis points, cents)
TOLERANCE_VOLATILE = (50, 200)
TOLERANCE_STABLE = (10, 50)
# UNPROMISED_LIMIT_CENTS: more than this, to which no promise applies and that no second provider confirms, waits for a
# person. OTHER_ASSET_LIMIT_CENTS: so much of an asset that was not asked for is credited at the market by itself.
UNPROMISED_LIMIT_CENTS, OTHER_ASSET_LIMIT_CENTS = 500_000, 10_000
# SECOND_PROVIDER_ABOVE_CENTS: transfers worth more must be confirmed by the second provider too, if there is one.
SECOND_PROVIDER_ABOVE_CENTS = 100_000
# SECOND_PERSON_ABOVE_CENTS: settling more than this by hand, or paying it out of a balance, needs two persons.
SECOND_PERSON_ABOVE_CENTS = 50_000
# TOPUP_CENTS: the amounts that can be added to a balance (BAL-1).
TOPUP_CENTS = (10_000, 50_000, 200_000, 1_000_000)
# PAYOUT_FEES: what a payout or refund costs its receiver, in whole coins of each method, for the network's fee; a
# method that is not named costs nothing. The smallest payout is that of a payment in the same method.
PAYOUT_FEES = {
    "btc": "0.00005",
    "ltc": "0.002",
    "eth": "0.0007",
    "usdt-ethereum": "3",
    "usdc-ethereum": "3",
    "trx": "2",
    "usdt-tron": "3",
    "sol": "0.0001",
}
# PAYOUT_SLIP_BASIS_POINTS: a payout that would bring so much less coin than was shown, since the price has moved, is
# not approved: its customer knows what arrives at least.
PAYOUT_SLIP_BASIS_POINTS = 500
# PAYOUTS_PER_HOUR: payouts of one customer: each is work for an operator.
PAYOUTS_PER_HOUR = 5
# PAYOUT_UNSEEN_MINUTES: a sent payout that the network does not show for so long stands before a person.
PAYOUT_UNSEEN_MINUTES = 60
# RESERVE_SIZE / RESERVE_LOW / RESERVE_EMPTY: ready addresses per network kept, alarm level, level of no new quotes.
RESERVE_SIZE, RESERVE_LOW, RESERVE_EMPTY = 200, 50, 1
# MESSAGES_PER_HOUR: messages of one customer to support: more than anybody types, less than would bury the others'.
MESSAGES_PER_HOUR = 30
# INQUIRIES_PER_HOUR: questions of one customer to the payment doctor: each may ask every node, several times.
INQUIRIES_PER_HOUR = 30
# RECONCILE_SECONDS: how often chain and books are compared: often enough to trust, seldom enough to cost nothing.
RECONCILE_SECONDS = 3600
# NETWORK_STALE_SECONDS: without a complete pass for this long a network takes no new instructions.
NETWORK_STALE_SECONDS = 90
