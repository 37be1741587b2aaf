"""The desk: one box, and what a look-up shows. Only a POST looks something up, and each writes its row first."""

import uuid
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.gates import allowed
from accounts.models import User
from orders.models import Order
from payments.models import TopUp

from . import actions, finders, stories
from .forms import LookUpForm
from .gate import desk_page
from .models import Lookup
from .things import Row, named, row_of

Outcome = Lookup.Outcome
TYPED = "support_typed"  # in the session: what was typed last, in full; the log holds no email
RECENT = 10
STATUS = {Outcome.REFUSED: 429}
STORIES: tuple[tuple[type[Any], str, Callable[[Any, stories.Looking], dict[str, Any]]], ...] = (
    (Order, "support/order.html", stories.order_story),
    (TopUp, "support/topup.html", stories.topup_story),
    (User, "support/customer.html", stories.customer_story),
)


@desk_page
@require_safe
def desk(request: HttpRequest) -> HttpResponse:
    """Show the box, and what this person looked up lately."""
    return render(request, "support/desk.html", base(request) | {"focus": True})


def base(request: HttpRequest) -> dict[str, Any]:
    rows = Lookup.objects.filter(actor=actor_of(request)).order_by("-at")[:RECENT]
    return {
        "finders": finders.FINDERS,
        "nav_area": "support",
        "recent": [(row, finders.labels(row.kind), actions.is_open(row)) for row in rows],
        "hours": settings.SUPPORT_LOOKUP_HOURS,
        "per_hour": settings.SUPPORT_LOOKUPS_PER_HOUR,
    }


@desk_page
@require_POST
def look_up(request: HttpRequest) -> HttpResponse:
    """Look up what was typed, log it, and lead to what was found."""
    form = LookUpForm(request.POST)
    if not form.is_valid():
        return redirect("support:desk")
    text, actor = form.cleaned_data["text"], actor_of(request)
    made = actions.look_up(text, admitted=has_room(request), actor=actor)
    request.session[TYPED] = {"lookup": str(made.pk), "text": text}
    return redirect("support:lookup", made.pk)


@desk_page
@require_POST
def follow(request: HttpRequest, lookup_id: uuid.UUID) -> HttpResponse:
    """Go on to something that a look-up leads to; that is logged as a look-up of its own."""
    subject, actor = request.POST.get("subject", "")[:64], actor_of(request)
    try:
        made = actions.follow(lookup_id, subject, admitted=has_room(request), actor=actor)
    except actions.NotReachable as error:
        raise Http404("not reachable from this look-up") from error
    return redirect("support:lookup", made.pk)


def has_room(request: HttpRequest) -> bool:
    """Count one look-up of this person, and tell whether there is room for it."""
    return allowed(request, "support_lookup", key=str(actor_of(request).pk))


def actor_of(request: HttpRequest) -> User:
    return cast(User, request.user)


@desk_page
@require_safe
def lookup(request: HttpRequest, lookup_id: uuid.UUID) -> HttpResponse:
    """Show what a look-up found, to who made it and for some hours; anybody else's is not there."""
    found = Lookup.objects.filter(actor=actor_of(request), pk=lookup_id).first()
    if found is None:
        raise Http404("no such look-up")
    found.actor = actor_of(request)  # no query for whom we know, and the permissions that were read already
    row = row_of(found.subject) if found.subject else None
    if actions.is_open(found) and row:
        return story(request, found, row)
    return outcome(request, found)


def story(request: HttpRequest, found: Lookup, row: Row) -> HttpResponse:
    template, tell = next((template, tell) for model, template, tell in STORIES if isinstance(row, model))
    looking = stories.Looking(found, {name: request.GET.get(name, "") for name in ("page", "topups")})
    context = {"lookup": found, "nav_area": "support", "now": timezone.now(), "until": actions.ends_at(found)}
    return render(request, template, context | tell(row, looking))


def outcome(request: HttpRequest, found: Lookup) -> HttpResponse:
    """Say what came of a look-up that shows no story: several, similar ones, nothing, too many, or its time is over."""
    is_open = actions.is_open(found)
    typed = typed_text(request, found)
    context = base(request) | {
        "lookup": found,
        "is_open": is_open,
        "typed": typed,
        "hits": named(found.hits) if is_open else [],
        "understood": finders.understood(typed) if found.outcome == Outcome.NOTHING else [],
    }
    status = 410 if not is_open else STATUS.get(Outcome(found.outcome), 200)
    return render(request, "support/outcome.html", context, status=status)


def typed_text(request: HttpRequest, found: Lookup) -> str:
    """Return what was typed: in full if it was this session's last, else as the log holds it."""
    last = request.session.get(TYPED, {})
    return str(last["text"]) if last.get("lookup") == str(found.pk) else found.text
