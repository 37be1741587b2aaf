"""Why an order can't be saved or changed, in words for the customer."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy


class Refused(Exception):
    """A rule says no; `sentence` says which and what to do. Nothing was changed."""

    def __init__(self, sentence: "str | Promise") -> None:
        super().__init__(str(sentence))
        self.sentence = sentence


class OutOfStock(Refused):
    def __init__(self, available: int) -> None:
        super().__init__(
            ngettext_lazy(
                "Only %(count)d lot is left, so the order was not saved. Choose fewer lots or another card.",
                "Only %(count)d lots are left, so the order was not saved. Choose fewer lots or another card.",
                available,
            )
            % {"count": available}
            if available
            else _(
                "No lots are left at the moment, so the order was not saved. Choose another card, or try again later."
            )
        )
        self.available = available


class HeldTooMuch(Refused):
    def __init__(self, limit: int) -> None:
        super().__init__(
            _("You already hold unpaid lots; with this order they would exceed %(limit)d. Pay or cancel one first.")
            % {"limit": limit}
        )


class PriceChanged(Refused):
    def __init__(self) -> None:
        super().__init__(_("The price has changed since you opened this page. Check the new total and save again."))


class NotOffered(Refused):
    def __init__(self) -> None:
        super().__init__(_("This card or term is not offered any more. Choose another one."))


class NotNow(Refused):
    """It is our side that can't do it at the moment; nothing that the customer chose is wrong."""


class OrdersPaused(NotNow):
    """An operator paused all new orders; `said` is what they tell customers about it, or nothing."""

    def __init__(self, said: str) -> None:
        text = _("No new orders are taken at the moment, so the order was not saved. What you entered is kept here.")
        super().__init__(f"{text} {said}".strip())


class OfferPaused(NotNow):
    def __init__(self, said: str) -> None:
        text = _("This card takes no new orders at the moment, so the order was not saved.")
        super().__init__(f"{text} {said}".strip())


class NoReason(Refused):
    def __init__(self) -> None:
        super().__init__(_("Say why: it is kept with your name."))


class NotCancellable(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("This order can't be cancelled here any more: it is paid, or a payment is on its way. Ask support.")
        )


class NotReturnable(Refused):
    def __init__(self) -> None:
        super().__init__(_("The sum of this order can't be moved: it is not paid, or its lots are reserved by now."))


class AccountClosed(Refused):
    def __init__(self) -> None:
        super().__init__(_("This account is closed, so the order was not saved."))
