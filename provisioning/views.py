from datetime import datetime
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from events.actions import subject_of
from events.models import Event
from orders.errors import Refused
from orders.queries import own_order

from . import actions
from .access import Access
from .models import Rental


@login_required
@never_cache
def access(request: HttpRequest, number: str) -> HttpResponse:
    """Ask once more, then show the access information; each showing is recorded (PRV-2)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    rental = get_object_or_404(Rental, order=order)
    context: dict[str, object] = {
        "order": order,
        "rental": rental,
        "ends_at": rental.ends_at,
        "last_shown_at": last_shown_at(rental),
    }
    if request.method == "POST":
        try:
            context |= shown(actions.show_access(rental.pk, actor=customer))
        except Refused as error:
            messages.error(request, str(error))
    return render(request, "provisioning/access.html", context)


def last_shown_at(rental: Rental) -> datetime | None:
    """Return when the access information was shown last: the log tells it (PRV-2)."""
    events = Event.objects.filter(thread=subject_of(rental.order), kind="access.shown").order_by("-id")
    return events.values_list("at", flat=True).first()


def shown(access: Access) -> dict[str, object]:
    """Return what the page shows: the command to type, the fields, the notes."""
    port = f" -p {access.ssh_port}" if access.ssh_port not in ("", "22") else ""
    target = f"{access.ssh_user}@{access.ssh_host}" if access.ssh_user else access.ssh_host
    fields = (
        (_("SSH host"), access.ssh_host),
        (_("SSH port"), access.ssh_port),
        (_("SSH user"), access.ssh_user),
        (_("Host key fingerprint"), access.key_fingerprint),
        (_("Notebook address"), access.notebook_url),
    )
    return {
        "shown": True,
        "command": f"ssh{port} {target}" if access.ssh_host else "",
        "fields": [{"label": label, "value": value} for label, value in fields],
        "notes": access.notes,
    }
