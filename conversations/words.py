"""What stands above a message, beside a detail, and what a finding is called."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .models import Message

Kind = Message.Kind

# The heading of a message that is more than words: by kind, or by the date that is asked for.
HEADINGS: dict[str, Promise] = {
    Kind.CANCELLATION: _("Please cancel this order"),
    Kind.CHANGE: _("Wish for an extension or a change"),
    Message.Topic.START: _("When does the rental start?"),
    Message.Topic.END: _("When does the rental end?"),
}

# What is asked about a run: name, label, whether it is code. The order of the form and of the message.
DETAILS: tuple[tuple[str, Promise, bool], ...] = (
    ("instructions", _("Payment instructions"), True),
    ("deadline", _("Needed by"), False),
    ("gpu", _("GPU"), False),
    ("time", _("Time"), False),
    ("stage", _("Stage"), False),
    ("versions", _("Library versions"), True),
    ("command", _("Command"), True),
    ("input_format", _("Input format"), False),
    ("error", _("First complete error"), True),
    ("example", _("Minimal example"), True),
    ("expected", _("What was expected"), False),
)
LABELS: dict[str, Promise] = {name: label for name, label, _code in DETAILS} | {"body": _("Text")}

FINDINGS: dict[str, Promise] = {
    "private_key": _("a private key"),
    "wallet_key": _("a key that spends coins"),
    "phrase": _("recovery words of a wallet"),
    "aws": _("a key of Amazon Web Services"),
    "github": _("a GitHub token"),
    "gitlab": _("a GitLab token"),
    "hugging_face": _("a Hugging Face token"),
    "model_key": _("a key of a model provider"),
    "slack": _("a Slack token"),
    "google": _("a Google key"),
    "stripe": _("a Stripe key"),
    "telegram": _("a Telegram bot's token"),
    "package_index": _("a token of a package index"),
    "own_token": _("an API token of this site"),
    "recovery_code": _("a recovery code of this site"),
    "jwt": _("a signed token (JWT)"),
    "login": _("a password or token in an address or a header"),
    "password": _("a password or key that is written out"),
    "random": _("a long random string, as keys are"),
}
