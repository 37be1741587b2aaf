"""Read the environment: the only module that does. `NAME_FILE` names a file that holds the value of NAME."""

import logging
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class Environment(environ.FileAwareEnv):
    """Read a value as its type. One that is not of it is named in the error. A file's last line end is dropped.

    An empty value is none: a compose file hands on each name, also one that nobody has set.
    """

    def get_value(self, var: str, *arguments: Any, **options: Any) -> Any:
        try:
            if "default" in options and self.ENVIRON.get(var) == "":  # of NAME_FILE it is what the file holds
                return options["default"]
            value = super().get_value(var, *arguments, **options)
        except (ValueError, OSError) as error:
            raise ImproperlyConfigured(f"{var} cannot be read: {error}.") from error
        return value.strip() if isinstance(value, str) else value

    def log_level(self, var: str, default: str) -> str:
        """Return the name of a level of Python's logging."""
        level = str(self.get_value(var, default=default)).upper()
        if level not in logging.getLevelNamesMapping():
            raise ImproperlyConfigured(f"{var} must be DEBUG, INFO, WARNING, ERROR or CRITICAL, not {level}.")
        return level

    def mailer(self, var: str) -> dict[str, Any]:
        """Return Django's settings for the mail server that a URL names; without one, for none."""
        url = self.get_value(var, default="")
        if not url:
            return {"BACKEND": "config.mailing.NoServer"}
        parts = urlsplit(url)
        if parts.scheme not in MAIL_PORTS or not parts.hostname:
            raise ImproperlyConfigured(f"{var} must begin with smtps://, smtp+tls:// or smtp:// and name a host.")
        if parts.scheme == "smtp" and parts.password:
            raise ImproperlyConfigured(f"{var} would send its password in the clear: use smtp+tls:// or smtps://.")
        options = {
            "host": parts.hostname,
            "port": parts.port or MAIL_PORTS[parts.scheme],
            "username": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "use_ssl": parts.scheme == "smtps",
            "use_tls": parts.scheme == "smtp+tls",
        }
        return {"BACKEND": "config.mailing.Backend", "OPTIONS": options}

    def database(self, var: str, *, file: Path) -> dict[str, Any]:
        """Return Django's settings for the database that a URL names; without one, for SQLite in `file`."""
        url = self.get_value(var, default="")
        if not url:
            return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}
        if not url.startswith(("postgres://", "postgresql://", "sqlite:///")):
            raise ImproperlyConfigured(f"{var} must begin with postgres:// or sqlite:///.")
        return dict(self.db_url_config(url))


env = Environment()
env.escape_proxy = True  # "$NAME" names another variable; write "\\$..." for a value that starts with "$"


def data_dir() -> Path:
    """Return the folder for database, secrets and generated files; make it (only its owner may read it)."""
    path = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).expanduser().absolute()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ImproperlyConfigured(f"DATA_DIR {path} cannot be made or used: {error.strerror}.") from error
    return path


def local_secret(folder: Path, name: str) -> str:
    """Return a secret kept in `folder`, made on first use (mode 0600), so that a fresh machine needs no set-up.

    It is written to a file of its own and linked into place: a full disk leaves no empty secret behind, and of two
    processes that start together both read the one that won.
    """
    path = folder / name
    if not path.exists():
        draft = folder / f".{name}.{os.getpid()}"
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError as error:
            raise ImproperlyConfigured(f"The secret {path} cannot be written: {error.strerror}.") from error
        finally:
            draft.unlink(missing_ok=True)
    text = path.read_text().strip()
    if not text:
        raise ImproperlyConfigured(f"The secret {path} is empty. Restore it from a back-up before starting.")
    return text
