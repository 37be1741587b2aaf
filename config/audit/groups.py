"""The kinds of events that the audit log is about, in groups, with their words for staff: the whole table.

Kinds that are not here are what customers and networks do; the log shows them too when everything is asked for.
"""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = Mapping[str, str | Promise]

DECISIONS: Words = {
    "review.decided": _("Decided a review item"),
    "order.hand_proposed": _("Proposed to settle an order by hand"),
    "order.hand_settled": _("Settled an order by hand"),
    "order.hand_withdrawn": _("Took back a proposal to settle by hand"),
    "order.helped": _("Decided about an order whose payment was gone"),
    "order.reserved": _("Took stock for a paid order"),
    "network.stopped": _("A network was stopped"),
    "network.resumed": _("Resumed a network"),
    "addresses.retired": _("Retired addresses after a restored back-up"),
    "review.reopened": _("Opened a decided review item anew"),
}
MONEY: Words = {
    "transfer.credited": _("A transfer was credited"),
    "transfer.reversed": _("A credit was taken back"),
    "order.settled": _("An order was paid"),
    "order.returned": _("A paid order was given back"),
    "topup.settled": _("A top-up was covered"),
    "adjustment.proposed": _("Proposed to correct a balance"),
    "adjustment.done": _("Corrected a balance"),
    "adjustment.withdrawn": _("Took back a proposal to correct a balance"),
}
PAYOUTS: Words = {
    "payout.requested": _("Asked for a payout or a refund"),
    "payout.checked": _("Agreed to a payout as the first person"),
    "payout.approved": _("Approved a payout, or took its transaction back"),
    "payout.sending": _("Took a payout to send it"),
    "payout.not_sent": _("Said that a payout was not sent"),
    "payout.sent": _("Recorded that a payout was sent"),
    "payout.went_wrong": _("The network shows that a payout went wrong"),
    "payout.final": _("A payout is final"),
    "payout.refused": _("Refused a payout"),
    "payout.cancelled": _("Cancelled a payout"),
}
LOOKED_UP = "desk.looked_up"  # a row of the support desk's own log, not an event
DESK: Words = {
    LOOKED_UP: _("Looked somebody up at the support desk"),
    "message.sent": _("Wrote in a conversation"),
    "message.set_aside": _("Noted that no answer is needed"),
}
RENTALS: Words = {
    "rental.planned": _("Set host or planned dates"),
    "rental.preparing": _("Started preparing a machine"),
    "rental.ready": _("Marked a machine as ready"),
    "rental.active": _("Handed a machine over"),
    "rental.suspended": _("Suspended a rental"),
    "rental.failed": _("Marked a rental as failed"),
    "rental.ended": _("A rental ended"),
    "rental.cancelled": _("Cancelled a paid order"),
    "rental.wiped": _("Confirmed a wipe"),
}
ACCESS: Words = {"access.shown": _("Access information was shown")}
PEOPLE: Words = {
    "role.set": _("Set a role"),
    "sessions.ended": _("Ended every session of a person"),
    "recovery.opened": _("Opened a recovery of a lost account"),
    "recovery.cancelled": _("Cancelled a recovery"),
    "recovery.completed": _("Completed a recovery"),
    "account.closed": _("Closed the account"),
}
SIGN_IN: Words = {
    "staff.signed_in": _("Signed in"),
    "password.changed": _("Changed the password"),
    "password.reset": _("Reset the password by command"),
    "email.changed": _("Changed the email"),
    "recovery_codes.made": _("Made new recovery codes"),
    "recovery_code.used": _("Used a recovery code"),
    "factor.added": _("Added a second factor"),
    "factor.removed": _("Removed a second factor"),
    "token.created": _("Made an API token"),
    "token.revoked": _("Revoked an API token"),
}
SETTINGS: Words = {
    "offer.added": _("Added an offer"),
    "offer.changed": _("Changed an offer"),
    "offer.published": _("Published an offer"),
    "offer.paused": _("Paused an offer"),
    "pause.begun": _("Paused new orders or a method"),
    "pause.ended": _("Opened new orders or a method again"),
    "cannedtext.added": _("Added a prepared answer"),
    "cannedtext.changed": _("Changed a prepared answer"),
    "cannedtext.deleted": _("Deleted a prepared answer"),
    "environment.added": _("Added an environment"),
    "environment.changed": _("Changed an environment"),
    "environment.deleted": _("Deleted an environment"),
}
GROUPS: Mapping[str, tuple[str | Promise, Words]] = {
    "decisions": (_("Decisions"), DECISIONS),
    "money": (_("Money"), MONEY),
    "payouts": (_("Payouts and refunds"), PAYOUTS),
    "desk": (_("Support desk"), DESK),
    "rentals": (_("Rentals"), RENTALS),
    "access": (_("Access information shown"), ACCESS),
    "people": (_("Roles and accounts"), PEOPLE),
    "sign_in": (_("Sign-in and keys"), SIGN_IN),
    "settings": (_("Offers and settings"), SETTINGS),
}
EVERYTHING = "everything"
WORDS: Words = {kind: words for _label, group in GROUPS.values() for kind, words in group.items()}
