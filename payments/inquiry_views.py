"""The payment doctor's pages: ask about a transaction, a link or an address; see the answer; call a person."""

import uuid
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import User
from orders.errors import Refused

from .actions import inquiries
from .forms import InquiryForm
from .inquiry_pages import answer_of
from .models import Inquiry, PaymentIntent
from .registry import families


@login_required
@never_cache
def doctor(request: HttpRequest) -> HttpResponse:
    """Take a question; a worker answers it."""
    customer = cast(User, request.user)
    intent = asked_intent(customer, request.GET.get("intent", ""))
    form, refusal = InquiryForm(request.POST or None, initial={"text": asked_text(customer, request)}), ""
    if request.method == "POST" and form.is_valid():
        try:
            made = inquiries.ask(form.cleaned_data["text"], intent=intent, actor=customer)
            return redirect("payments:inquiry", made.pk)
        except Refused as error:
            refusal = str(error)
    context = {
        "form": form,
        "intent": intent,
        "refusal": refusal,
        "networks": [family.name for family in families().values()],
        "nav_area": "doctor",
        "recent": Inquiry.objects.filter(customer=customer).order_by("-asked_at")[:5],
    }
    return render(request, "payments/doctor.html", context, status=429 if refusal else 200)


def asked_intent(customer: User, key: str) -> PaymentIntent | None:
    """Return the customer's own instructions that a page speaks of; none for anybody else's."""
    try:
        return PaymentIntent.objects.filter(customer=customer, pk=uuid.UUID(key)).first()
    except ValueError:
        return None


def asked_text(customer: User, request: HttpRequest) -> str:
    """Return the text of an earlier question that is to be asked again."""
    try:
        earlier = Inquiry.objects.filter(customer=customer, pk=uuid.UUID(request.GET.get("again", "")))
    except ValueError:
        return ""
    return earlier.values_list("text", flat=True).first() or ""


def own_inquiry(request: HttpRequest, inquiry_id: uuid.UUID) -> Inquiry:
    """Return the customer's question; 404 for anybody else's."""
    rows = Inquiry.objects.filter(customer=cast(User, request.user), pk=inquiry_id)
    found = rows.select_related("intent").first()
    if found is None:
        raise Http404("no such question")
    return found


@login_required
@never_cache
def inquiry(request: HttpRequest, inquiry_id: uuid.UUID) -> HttpResponse:
    """Show a question and its answer, as soon as there is one."""
    context = {"page": answer_of(own_inquiry(request, inquiry_id)), "nav_area": "doctor"}
    return render(request, "payments/inquiry.html", context)


@login_required
@never_cache
def inquiry_status(request: HttpRequest, inquiry_id: uuid.UUID) -> HttpResponse:
    """Return the part that changes by itself."""
    return render(request, "payments/_answer.html", {"page": answer_of(own_inquiry(request, inquiry_id))})


@login_required
@require_POST
def inquiry_claim(request: HttpRequest, inquiry_id: uuid.UUID) -> HttpResponse:
    """Put the question before a person."""
    found = own_inquiry(request, inquiry_id)
    try:
        inquiries.claim_payment(found.pk, note=request.POST.get("note", ""), actor=cast(User, request.user))
        messages.success(request, _("A person will look at it. Nothing is credited before."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect("payments:inquiry", found.pk)
