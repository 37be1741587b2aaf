"""Who reacts to which event: the whole table. Handlers run in workers, once, inside the relay's transaction."""

HANDLERS: dict[str, tuple[str, ...]] = {
    "order.settled": ("provisioning.handlers.start_rental",),
    "order.reserved": ("provisioning.handlers.start_rental",),
    "account.closed": ("provisioning.handlers.forget_access_of_closed",),
}
