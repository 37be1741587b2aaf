"""Who on the staff may do what (ACC-8): the whole table. Each migrate makes the groups so.

Permissions of the last app of INSTALLED_APPS cannot stand here: Django makes them only after that step.
"""

from accounts.actions.roles import OWNER

LOOK = (
    "accounts.view_user",
    "balance.view_account",
    "balance.view_movement",
    "catalog.view_offer",
    "catalog.view_pause",
    "catalog.view_price",
    "conversations.view_cannedtext",
    "conversations.view_message",
    "orders.view_environment",
    "orders.view_hold",
    "orders.view_order",
    "payments.view_adjustment",
    "payments.view_chaintransfer",
    "payments.view_handsettlement",
    "payments.view_inquiry",
    "payments.view_networkcursor",
    "payments.view_paymentintent",
    "payments.view_payout",
    "payments.view_ratesourcehealth",
    "payments.view_reconciliation",
    "payments.view_reviewitem",
    "payments.view_topup",
    "provisioning.view_rental",
)
DESK = "support.use_desk"
# Support reads and converses; access secrets and money are not theirs (ACC-8, A13).
SUPPORT = (*LOOK, DESK, "conversations.answer")
# Operators reconcile and provision.
OPERATOR = (
    *LOOK,
    DESK,
    "events.view_event",
    "catalog.add_offer",
    "catalog.change_offer",
    "catalog.add_price",
    "catalog.change_pause",
    "catalog.change_price",
    "conversations.answer",
    "conversations.add_cannedtext",
    "conversations.change_cannedtext",
    "orders.change_order",
    "orders.add_environment",
    "orders.change_environment",
    "payments.adjust_balance",
    "payments.change_networkcursor",
    "payments.change_reviewitem",
    "payments.decide_payout",
    "payments.settle_order",
    "payments.view_checkup",
    "payments.view_reports",
    "provisioning.change_rental",
)
# An owner is a superuser as well; these are what an owner may do and nobody else.
OWNERS = (
    *OPERATOR,
    "accounts.change_user",
    "accounts.recover_account",
    "accounts.view_recovery",
    "support.view_lookup",
)

ROLES = {"support": SUPPORT, "operator": OPERATOR, OWNER: OWNERS}
