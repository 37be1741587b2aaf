"""Support's side of conversations: who waits, and the answer."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from accounts.second_factor import staff_page
from orders.errors import Refused
from orders.models import Order

from . import actions, pages, queries, secrets
from .forms import AnswerForm, CannedForm
from .models import BODY_LENGTH, CannedText, Message, Side
from .views import confirmed, whole_number

PER_PAGE = 30


def for_support[View: Callable[..., HttpResponse]](view: View) -> View:
    """Open a view only to who may answer customers, with a second factor shown (ACC-8)."""
    gated = login_required(permission_required("conversations.answer", raise_exception=True)(view))
    return cast(View, staff_page(gated))


@for_support
@require_safe
@never_cache
def waiting(request: HttpRequest) -> HttpResponse:
    """List who waits for an answer, the longest waiting first."""
    page_obj = Paginator(queries.waiting(), PER_PAGE).get_page(request.GET.get("page"))
    rows = [(row, newest, labels(kinds)) for row, newest, kinds in queries.asked_in(page_obj)]
    context = {"page_obj": page_obj, "rows": rows, "nav_area": "support"}
    return render(request, "conversations/waiting.html", context)


def labels(kinds: Iterable[str]) -> list[str]:
    return [str(Message.Kind(kind).label) for kind in sorted(kinds)]


@for_support
@sensitive_post_parameters()
@never_cache
def answer(request: HttpRequest, number: str) -> HttpResponse:
    """Show a conversation to support; on POST insert a prepared answer, or send."""
    order = queries.any_order(number)
    if request.method == "POST":
        return inserted(request, order) if "insert" in request.POST else sent(request, order)
    if number != order.number:
        return redirect("conversations:answer", order.number)
    state = queries.of_order(order)
    form = AnswerForm(initial={"form_key": uuid.uuid4(), "read_up_to": state.last_of_customer})
    return page(request, order, form)


def sent(request: HttpRequest, order: Order) -> HttpResponse:
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return page(request, order, form, status=400)
    if not confirmed(request, form.texts()):
        return page(request, order, form, status=409, warn=form.texts())
    try:
        actions.answer(order.pk, actor=cast(User, request.user), **form.cleaned_data)
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return page(request, order, form, status=409)
    messages.success(request, _("The answer is sent."))
    return redirect("conversations:answer", order.number)


def inserted(request: HttpRequest, order: Order) -> HttpResponse:
    """Put a prepared answer below what stands in the box. Nothing is sent."""
    data, chosen = request.POST.copy(), CannedForm(request.POST)
    if chosen.is_valid():
        canned: CannedText = chosen.cleaned_data["canned"]
        written = [request.POST.get("body", "").strip(), canned.body.replace("{number}", order.number)]
        data["body"] = "\n\n".join(part for part in written if part)[: BODY_LENGTH * 2]
    keys = {name: data.get(name, "") for name in ("form_key", "read_up_to", "body")}
    return page(request, order, AnswerForm(initial=keys))


def page(
    request: HttpRequest, order: Order, form: AnswerForm, *, status: int = 200, warn: Mapping[str, str] | None = None
) -> HttpResponse:
    state, page_obj = queries.of_order(order), queries.thread(order, request.GET.get("page"))
    shown: list[Message] = list(page_obj)[::-1]
    context: dict[str, Any] = {
        "order": order,
        "state": state,
        "page_obj": page_obj,
        "lines": pages.lines(shown, reader=Side.STAFF, read_up_to=state.read_by_staff),
        "form": form,
        "canned": canned_for(order),
        "cancellation": any(one.kind == Message.Kind.CANCELLATION for one in shown),
        "warnings": pages.warnings(warn) if warn else [],
        "mark": secrets.mark_of(warn) if warn else "",
        "nav_area": "support",
    }
    return render(request, "conversations/answer.html", context, status=status)


def canned_for(order: Order) -> list[tuple[str, list[CannedText]]]:
    """Return the prepared answers by language, the customer's first."""
    groups: dict[str, list[CannedText]] = {}
    for text in CannedText.objects.order_by("position", "id"):
        groups.setdefault(text.language, []).append(text)
    own = order.customer.language or "en"
    names = dict(CannedText.LANGUAGES)
    return [(names[code], groups[code]) for code in sorted(groups, key=lambda code: (code != own, code))]


@for_support
@require_POST
def set_aside(request: HttpRequest, number: str) -> HttpResponse:
    """Note that what the customer wrote needs no answer."""
    order = queries.any_order(number)
    read_up_to = whole_number(request.POST.get("read_up_to", ""))
    actions.set_aside(order.pk, read_up_to=read_up_to, actor=cast(User, request.user))
    messages.success(request, _("Noted: no answer is needed."))
    return redirect("conversations:waiting")
