"""Wake a task. Only a hint: the schedule finds all work without it."""

from celery import current_app

# One attempt of one second each way, over a connection of its own: the pooled one of a publisher tries again for six
# seconds when the broker refuses, and waits for ever when it accepts and says nothing.
AT_ONCE = {"max_retries": 0, "socket_connect_timeout": 1.0, "socket_timeout": 1.0}


def nudge(task: str = "events.tasks.relay") -> None:
    """Ask a worker to run a task now; a broker that is away is no reason to fail the page or to keep it waiting."""
    with current_app.connection_for_write() as broker:
        broker.transport_options = {**broker.transport_options, **AT_ONCE}
        current_app.send_task(task, ignore_result=True, expires=5, connection=broker)
