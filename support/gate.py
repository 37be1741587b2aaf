"""The gate of the desk: staff with the permission, and with a second factor as on every page of the staff (ACC-8)."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from accounts.second_factor import staff_page

PERMISSION = "support.use_desk"


def desk_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open a view only to who may use the desk; nothing of it is kept in a cache."""

    @wraps(view)
    def gated(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Without is_staff the gate of the second factor would let them pass.
        if not (request.user.is_staff and request.user.has_perm(PERMISSION)):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return staff_page(login_required(never_cache(gated)))
