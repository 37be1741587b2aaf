"""Offers in the admin: what a change of price or stock does is shown before it is saved (CAT-10)."""

from decimal import Decimal
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.downloads import Downloads

from . import actions
from .editing import Edit, is_weighty, mark, shortfall
from .models import Offer, Price
from .pausing import OFFER, paused
from .previews import lines

OWN_FIELDS = ("csrfmiddlewaretoken", "seen", "accepted")  # of the preview itself, not of the form that it carries


class RememberingForm(forms.ModelForm[Any]):
    """Carries what it showed, so that only what was edited is written: another person may save meanwhile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = self.instance.pk is not None


class PriceForm(RememberingForm):
    usd = forms.DecimalField(label=_("US dollars per lot"), min_value=Decimal("0.01"), max_digits=9, decimal_places=2)

    class Meta:
        model = Price
        fields = ("term_days",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["usd"] = Decimal(self.instance.unit_price_cents) / 100
            self.fields["term_days"].disabled = True

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("usd"):
            self.instance.unit_price_cents = int(data["usd"] * 100)
        return data


class PriceInline(admin.TabularInline[Price, Offer]):
    model = Price
    form = PriceForm
    extra = 3
    max_num = 3
    can_delete = False


@admin.register(Offer)
class OfferAdmin(Downloads):
    form = RememberingForm
    list_display = ("name", "vendor", "backend", "memory_gb", "lots", "taken", "free", "missing", "published")
    list_filter = ("published", "vendor", "backend", "confidence")
    search_fields = ("name", "slug", "architecture")
    ordering = ("position", "id")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (PriceInline,)
    actions = ("show", "hide")
    change_form_template = "catalog/admin_offer.html"
    change_list_template = "catalog/admin_offers.html"

    @admin.display(description=_("lots available"))
    def free(self, offer: Offer) -> int:
        return offer.available_lots

    @admin.display(description=_("lots short"), ordering="short")
    def missing(self, offer: Offer) -> SafeString | str:
        return format_html('<span class="badge bad">{}</span>', said(offer)) if offer.short else "-"

    @admin.action(description=_("Publish the chosen offers"), permissions=["change"])
    def show(self, request: HttpRequest, offers: QuerySet[Offer]) -> HttpResponse:
        return to_pauses("admin:pause_end", offers)

    @admin.action(description=_("Pause the chosen offers: they take no new orders"), permissions=["change"])
    def hide(self, request: HttpRequest, offers: QuerySet[Offer]) -> HttpResponse:
        return to_pauses("admin:pause_begin", offers)

    def get_readonly_fields(self, request: HttpRequest, obj: Offer | None = None) -> tuple[str, ...]:
        """An offer that exists is published and paused with a reason, on a page of its own."""
        return ("taken", "free", "short", *(("published",) if obj else ()))

    def has_delete_permission(self, request: HttpRequest, obj: Offer | None = None) -> bool:
        """Orders point to offers and the sample would return: an offer is paused instead."""
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        offer = self.get_object(request, object_id)
        if offer and request.method == "POST" and self.has_change_permission(request, offer):
            edit = self.read(request, offer)
            if edit and edit.changes(fresh := Offer.objects.get(pk=offer.pk)):
                return self.attempt(request, fresh, edit)
        extra = {"pause": paused(f"{OFFER}{offer.pk}") if offer else None, "said": said(offer) if offer else ""}
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        short = Offer.objects.filter(short__gt=0)
        extra = {"short": [(offer, said(offer)) for offer in short]}
        return super().changelist_view(request, {**extra, **(extra_context or {})})

    def read(self, request: HttpRequest, offer: Offer) -> Edit | None:
        """Return what a posted form asks for; none if it is not valid: Django's own page then says why."""
        form = self.get_form(request, offer, change=True)(request.POST, instance=offer)
        formset = cast(Any, self)._create_formsets(request, offer, change=True)[0][0]
        if not (form.is_valid() and formset.is_valid()):
            return None
        prices = [row.instance for row in formset.forms if row.has_changed()]
        return Edit(
            {name: form.cleaned_data[name] for name in form.changed_data},
            {price.term_days: price.unit_price_cents for price in prices},
        )

    def attempt(self, request: HttpRequest, offer: Offer, edit: Edit) -> HttpResponse:
        """Save what was seen; else show what it would do."""
        changes, seen = edit.changes(offer), request.POST.get("seen", "")
        if is_weighty(changes) and not seen:
            return self.preview(request, offer, edit)
        accepted = request.POST.get("accepted", "")
        try:
            edited = actions.edit_offer(
                offer.pk,
                edit,
                seen=seen,
                short_accepted=int(accepted) if accepted.isdecimal() else 0,
                actor=cast(User, request.user),
            )
        except actions.Moved:
            messages.warning(request, _("Stock or prices moved meanwhile. Nothing was saved: look again."))
            return self.preview(request, Offer.objects.get(pk=offer.pk), edit)
        except actions.Short:
            messages.error(request, _("Nothing was saved: confirm the shortfall as well."))
            return self.preview(request, Offer.objects.get(pk=offer.pk), edit)
        self.log_change(request, edited, ", ".join(changes))
        if edited.short:
            messages.warning(request, f"{edited.name}: {said(edited)}")
        return self.response_change(request, edited)

    def preview(self, request: HttpRequest, offer: Offer, edit: Edit) -> HttpResponse:
        changes = edit.changes(offer)
        context = {
            **self.admin_site.each_context(request),
            "title": _("What this changes"),
            "opts": self.opts,
            "offer": offer,
            "changes": changes,
            "lines": lines(offer, changes),
            "seen": mark(offer),
            "short": shortfall(offer, changes),
            "lots": changes["lots"][1] if "lots" in changes else offer.lots,
            "posted": [(name, one) for name, every in request.POST.lists() if name not in OWN_FIELDS for one in every],
        }
        return render(request, "catalog/admin_preview.html", context)

    def save_model(self, request: HttpRequest, obj: Offer, form: Any, change: bool) -> None:
        """Insert a new offer; what exists is changed by `attempt`, and here nothing of it was edited."""
        if not change:
            actions.add_offer(offer=obj, actor=cast(User, request.user))

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for price in formset.save(commit=False):
            actions.set_price(offer=price.offer, term_days=price.term_days, unit_price_cents=price.unit_price_cents)


def said(offer: Offer) -> str:
    """Say in numbers what is missing (S16)."""
    text = _("%(short)d lots short: %(taken)d are taken, %(lots)d exist")
    return str(text % {"short": offer.short, "taken": offer.taken, "lots": offer.lots}) if offer.short else ""


def to_pauses(page: str, offers: QuerySet[Offer]) -> HttpResponse:
    """Lead to the page that pauses or publishes: it shows what that does and asks for the reason."""
    subjects = urlencode([("subject", f"{OFFER}{offer.pk}") for offer in offers])
    return HttpResponseRedirect(f"{reverse(page)}?{subjects}")
