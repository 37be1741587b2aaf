"""What a check of chain and books came to, as one word."""

from django.utils.translation import gettext_lazy as _

from orders.words import Word

from .models import Reconciliation


def check_word(check: Reconciliation | None) -> Word:
    """Return the word; a check that could not ask its node is no proof, and says so."""
    if check is None:
        return Word("none", _("Not checked yet"), "waiting", _("The first check comes within an hour."))
    if not check.agrees:
        return Word("differs", _("Differs"), "bad", _("Something does not fit. A person was told and looks at it."))
    if not check.network:
        return Word(
            "agrees", _("Balances add up"), "good", _("Every credit for a transfer stands in the ledger, once.")
        )
    if check.error:
        text = _("The sums fit. The node could not be asked to show the transfers again; the next check tries anew.")
        return Word("unasked", _("Sums fit"), "attention", text)
    return Word(
        "agrees",
        _("Chain = books"),
        "good",
        _("Every sum fits, and the node showed each transfer that was read again."),
    )
