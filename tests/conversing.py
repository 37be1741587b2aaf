"""Words for stories about conversations: who enters, who writes, and the customer's form."""

import uuid
from collections.abc import Callable
from typing import Any

from django.urls import reverse

from accounts.models import User
from conversations.models import Message
from orders.models import Order

Enter = Callable[[User], Any]
Say = Callable[..., Message]


def page_of(order: Order, name: str = "messages") -> str:
    return reverse(f"conversations:{name}", args=[order.number])


def form(**fields: str) -> dict[str, str]:
    """Return what the customer's form sends."""
    return {"form_key": str(uuid.uuid4()), "about": "", "body": "Where is my machine?"} | fields
