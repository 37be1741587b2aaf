"""What each kind of event says in an account's history: the whole table."""

from django.utils.translation import gettext_lazy as _

WORDS = {
    "password.changed": _("Password changed; the other sessions ended."),
    "password.reset": _("Password reset by the command of the installation."),
    "email.changed": _("Email changed."),
    "recovery_codes.made": _("New recovery codes made; older ones no longer work."),
    "recovery_code.used": _("A recovery code set a new password; every session ended and every token was revoked."),
    "factor.added": _("Second factor added; the other sessions ended."),
    "factor.removed": _("Second factor removed; the other sessions ended."),
    "token.created": _("API token made."),
    "token.revoked": _("API token revoked."),
    "recovery.opened": _("Recovery of a lost account opened by an owner of this site."),
    "recovery.cancelled": _("Recovery of the account cancelled."),
    "recovery.completed": _("Recovery of the account completed: password, sessions and second factors ended."),
    "guest_work.claimed": _("Work from before signing in was brought along."),
    "sessions.ended": _("Every session ended by an owner of this site."),
    "role.set": _("Role changed; every session ended."),
}
