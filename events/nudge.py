"""Wake the relay. Only a hint: the 5-second schedule finds every delivery without it."""

from celery import current_app

# One attempt of one second each way, over a connection of its own: the pooled one of a publisher tries again for six
# seconds when the broker refuses, and waits for ever when it accepts and says nothing.
AT_ONCE = {"max_retries": 0, "socket_connect_timeout": 1.0, "socket_timeout": 1.0}


def nudge() -> None:
    """Ask a worker to run the relay now; a broker that is away is no reason to fail the page or to keep it waiting."""
    with current_app.connection_for_write() as broker:
        broker.transport_options = {**broker.transport_options, **AT_ONCE}
        current_app.send_task("events.tasks.relay", ignore_result=True, expires=5, connection=broker)
