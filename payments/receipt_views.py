"""Receipts to download, and the keys to check them with."""

from typing import cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from orders import numbers
from orders.queries import own_order

from .models import Installation, Purpose, TopUp
from .receipts import receipt_of
from .signed_receipts import FORMAT, public_keys, signed


@login_required
@never_cache
@require_safe
def receipt_json(request: HttpRequest, number: str) -> HttpResponse:
    """Return the signed receipt of an own order or top-up as a file."""
    purpose = own_purpose(cast(User, request.user), number)
    text = signed(receipt_of(purpose), Installation.objects.get(), now=timezone.now())
    name = {"Content-Disposition": f'attachment; filename="receipt-{purpose.number}.json"'}
    return HttpResponse(text, content_type="application/json", headers=name)


def own_purpose(customer: User, number: str) -> Purpose:
    """Return the customer's order or top-up with this number; 404 for a wrong one and for anybody else's."""
    try:
        return own_order(customer, number)
    except Http404:
        symbols = numbers.read(number, settings.TOPUP_NUMBER_PREFIX) or ""
        topup = TopUp.objects.filter(customer=customer, symbols=symbols).first()
        if topup is None:
            raise
        return topup


@require_safe
def receipt_key(request: HttpRequest) -> JsonResponse:
    """Publish the keys that receipts are signed with, the present one first: for anybody to compare."""
    return JsonResponse({"format": FORMAT, "keys": public_keys()})
