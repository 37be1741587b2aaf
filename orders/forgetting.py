"""Contact data of closed accounts: kept for a time, then removed from their orders (ACC-7)."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from .models import Order


def forget_contacts() -> int:
    """Remove names, address and wish from orders of accounts closed long enough ago; return how many."""
    before = timezone.now() - timedelta(days=settings.CONTACT_RETENTION_DAYS)
    orders = Order.objects.filter(customer__closed_at__lte=before).exclude(email="")
    return orders.update(first_name="", last_name="", email="", environment_wish="", client="")
