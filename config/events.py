"""Who reacts to which event: the whole table. Handlers run in workers, once, inside the relay's transaction."""

TELL = "config.telling.note"  # its own table says of which of them operators are told, and how

HANDLERS: dict[str, tuple[str, ...]] = {
    "order.settled": ("provisioning.handlers.start_rental",),
    "order.reserved": ("provisioning.handlers.start_rental",),
    "account.closed": ("provisioning.handlers.forget_access_of_closed",),
    "review.opened": (TELL,),
    "order.hand_proposed": (TELL,),
    "order.waiting_for_stock": (TELL,),
    "order.needs_help": (TELL,),
    "rental.queued": (TELL,),
    "network.stopped": (TELL,),
    "alarm.raised": (TELL,),
    "worker.resumed": (TELL,),
    "message.sent": (TELL,),
    "payout.requested": (TELL,),
}
