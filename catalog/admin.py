from decimal import Decimal
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.admin import RecordsChanges

from . import actions
from .models import Offer, Price


class PriceForm(forms.ModelForm[Price]):
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
class OfferAdmin(RecordsChanges):
    list_display = ("name", "vendor", "backend", "memory_gb", "lots", "taken", "free", "short", "published")
    list_filter = ("published", "vendor", "backend", "confidence")
    search_fields = ("name", "slug", "architecture")
    ordering = ("position", "id")
    readonly_fields = ("taken", "free", "short")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (PriceInline,)
    actions = ("show", "hide")

    @admin.display(description=_("lots available"))
    def free(self, offer: Offer) -> int:
        return offer.available_lots

    @admin.action(description=_("Publish the chosen offers"), permissions=["change"])
    def show(self, request: HttpRequest, offers: QuerySet[Offer]) -> None:
        actions.publish(offers=offers, published=True, actor=cast(User, request.user))
        self.message_user(request, _("Published: the chosen offers take orders."))

    @admin.action(description=_("Pause the chosen offers: they take no new orders"), permissions=["change"])
    def hide(self, request: HttpRequest, offers: QuerySet[Offer]) -> None:
        actions.publish(offers=offers, published=False, actor=cast(User, request.user))
        self.message_user(request, _("Paused: the chosen offers take no new orders. Orders that exist go on."))

    def has_delete_permission(self, request: HttpRequest, obj: Offer | None = None) -> bool:
        """Orders point to offers and the sample would return: an offer is paused instead."""
        return False

    def save_model(self, request: HttpRequest, obj: Offer, form: Any, change: bool) -> None:
        """Write only what was edited: stock moves while the page is open."""
        if not change:
            obj.save(force_insert=True)
            return
        if fields := [name for name in form.changed_data if name != "lots"]:
            obj.save(update_fields=fields)
        if "lots" in form.changed_data:
            actions.set_stock(offer=obj, lots=obj.lots)
        if obj.short:
            text = _("%(name)s is %(short)d lots short: %(taken)d are taken, %(lots)d exist.")
            facts = {"name": obj.name, "short": obj.short, "taken": obj.taken, "lots": obj.lots}
            self.message_user(request, text % facts, messages.WARNING)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for price in formset.save(commit=False):
            actions.set_price(offer=price.offer, term_days=price.term_days, unit_price_cents=price.unit_price_cents)
