"""Receipts to download, and the keys to check them with."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User

from .models import Installation
from .queries import own_purpose
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


@require_safe
def receipt_key(request: HttpRequest) -> JsonResponse:
    """Publish the keys that receipts are signed with, the present one first: for anybody to compare."""
    return JsonResponse({"format": FORMAT, "keys": public_keys()})
