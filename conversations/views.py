"""The customer's side of a conversation."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts.models import User
from events.columns import zoned
from orders.errors import Refused
from orders.models import Order
from orders.queries import own_order

from . import actions, pages, queries, secrets
from .errors import TooManyMessages
from .forms import MessageForm
from .models import Message, Side


@login_required
@sensitive_post_parameters()
@never_cache
def conversation(request: HttpRequest, number: str) -> HttpResponse:
    """Show the conversation of an order and the form; on POST send what was written (ORD-12)."""
    order = own_order(cast(User, request.user), number)
    if request.method == "POST":
        return sent(request, order)
    if number != order.number:
        return redirect("conversations:messages", order.number)
    known = queries.instructions_of(order, request.GET.get("intent", ""))
    form = MessageForm.fresh(order, about=request.GET.get("about", ""), instructions=known["id"] if known else "")
    return page(request, order, form)


def sent(request: HttpRequest, order: Order) -> HttpResponse:
    """Send, or come back with everything kept and the reason: a secret, a limit, a text too long."""
    form = MessageForm(request.POST, about=request.POST.get("about", ""))
    if not form.is_valid():
        return page(request, order, form, status=400)
    texts = form.texts()
    if not confirmed(request, texts):
        return page(request, order, form, status=409, warn=texts)
    known = queries.instructions_of(order, form.cleaned_data["instructions"])
    try:
        made = actions.send(
            order,
            kind=form.kind,
            body=form.cleaned_data["body"],
            context=form.context(known["id"] if known else ""),
            form_key=form.cleaned_data["form_key"],
            actor=cast(User, request.user),
        )
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return page(request, order, form, status=429 if isinstance(refusal, TooManyMessages) else 409)
    return redirect(f"{reverse('conversations:messages', args=[order.number])}#m{made.pk}")


def confirmed(request: HttpRequest, texts: Mapping[str, str]) -> bool:
    """Tell whether nothing looks like a secret, or exactly this was shown and sent all the same."""
    mark = secrets.mark_of(texts)
    return not mark or request.POST.get("anyway") == mark


def page(
    request: HttpRequest,
    order: Order,
    form: MessageForm,
    *,
    status: int = 200,
    warn: Mapping[str, str] | None = None,
) -> HttpResponse:
    context = {
        **thread_of(request, order),
        "form": form,
        "about": form.kind.value,
        "warnings": pages.warnings(warn) if warn else [],
        "mark": secrets.mark_of(warn) if warn else "",
        "instructions": queries.instructions_of(order, str(form["instructions"].value() or "")),
    }
    return render(request, "conversations/messages.html", context, status=status)


def thread_of(request: HttpRequest, order: Order) -> dict[str, Any]:
    """Return a page of the conversation as the customer reads it."""
    state, page_obj = queries.of_order(order), queries.thread(order, request.GET.get("page"))
    shown: list[Message] = list(page_obj)[::-1]
    return {
        "order": order,
        "state": state,
        "page_obj": page_obj,
        "lines": pages.lines(shown, reader=Side.CUSTOMER, read_up_to=state.read_by_customer),
        "live": page_obj.number == 1,
        "said": said(shown),
        "last": shown[-1].pk if shown else 0,
    }


def said(shown: list[Message]) -> str:
    """Return what is read out when it changes; the time makes each answer another text."""
    if not shown:
        return ""
    words = (
        _("Your message was sent, %(at)s.") if shown[-1].side == Side.CUSTOMER else _("Support has answered, %(at)s.")
    )
    return words % {"at": zoned(shown[-1].at)}


@login_required
@never_cache
def thread(request: HttpRequest, number: str) -> HttpResponse:
    """Return the newest page of the conversation, which changes by itself."""
    return render(
        request, "conversations/_thread.html", thread_of(request, own_order(cast(User, request.user), number))
    )


@login_required
@never_cache
def recent(request: HttpRequest, number: str) -> HttpResponse:
    """Return the last messages, as the order's page shows them."""
    return render(request, "conversations/_recent.html", recent_of(own_order(cast(User, request.user), number)))


def recent_of(order: Order) -> dict[str, Any]:
    """Return the last messages of an order as its customer reads them."""
    state, last = queries.recent(order)
    return {
        "order": order,
        "state": state,
        "lines": pages.lines(last, reader=Side.CUSTOMER, read_up_to=state.read_by_customer),
    }


@login_required
@require_POST
def read(request: HttpRequest, number: str) -> HttpResponse:
    """Note up to which message the customer has read."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    actions.mark_read(order, read_up_to=whole_number(request.POST.get("read_up_to", "")), actor=customer)
    if request.headers.get("HX-Request"):
        return HttpResponse()
    return redirect("conversations:messages", order.number)


def whole_number(text: str) -> int:
    """Return a number of a form; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


@login_required
@require_POST
def ask_date(request: HttpRequest, number: str) -> HttpResponse:
    """Ask for a date that is not set yet (PRV-3)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    topic = request.POST.get("topic", "")
    if topic in Message.Topic.values:
        try:
            actions.ask_for_date(order, topic, actor=customer)
            messages.success(request, _("Support is asked for this date. The answer comes into the conversation."))
        except Refused as refusal:
            messages.error(request, str(refusal))
    return redirect("orders:detail", order.number)
