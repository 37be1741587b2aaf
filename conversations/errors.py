"""Why something can't be sent, in words for who wrote it."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from orders.errors import Refused


class TooManyMessages(Refused):
    def __init__(self, limit: int) -> None:
        super().__init__(
            ngettext_lazy(
                "You have sent %(count)d message within an hour, which is the most. Your text is still here: send it "
                "later.",
                "You have sent %(count)d messages within an hour, which is the most. Your text is still here: send it "
                "later.",
                limit,
            )
            % {"count": limit}
        )


class NothingToCancel(Refused):
    def __init__(self) -> None:
        super().__init__(_("There is nothing to ask for: only a paid order is cancelled by request."))


class NobodyReads(Refused):
    def __init__(self) -> None:
        super().__init__(_("The customer has closed the account: nobody would read an answer."))
