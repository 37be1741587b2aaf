"""The timers: what runs by itself, how often. Each message expires before the next one, so none pile up."""

from typing import Any

from django.conf import settings


def every(task: str, seconds: float, **arguments: Any) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "kwargs": arguments, "options": {"expires": max(seconds * 0.9, 1.0)}}


SCHEDULE = {
    "heartbeat": every("events.tasks.beat", settings.HEARTBEAT_SECONDS),
    "relay": every("events.tasks.relay", 5.0),
    "alarms": every("config.tasks.look_around", 30.0),
    "tell": every("config.tasks.tell_operators", 15.0),
    "watch": every("payments.tasks.watch_all", settings.WATCH_SECONDS),
    "rates": every("payments.tasks.sample_rates", settings.RATE_SAMPLE_SECONDS),
    "reserve": every("payments.tasks.fill_reserves", 60.0),
    "inquiries": every("payments.tasks.answer_inquiries", 5.0),
    "payouts": every("payments.tasks.follow_payouts", 5.0),
    "checkups": every("config.tasks.examine", 10.0),
    "reconcile": every("payments.tasks.reconcile", settings.RECONCILE_SECONDS),
    "holds": every("orders.tasks.end_holds", 10.0),
    "orders": every("orders.tasks.expire_orders", 300.0),
    "guests": every("accounts.tasks.forget_guests", 3600.0),
    "contacts": every("orders.tasks.forget_contacts", 3600.0),
    "conversations": every("conversations.tasks.forget_texts", 3600.0),
}
if settings.NETWORKS_KIND == "simulated":
    SCHEDULE["mine"] = every("payments.tasks.mine_simulated", settings.SIMULATED_BLOCK_SECONDS)
