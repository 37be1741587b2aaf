"""The least Django that sells and pays: what a request costs before any product code. Tables of its own, Django's own
middleware. `/order` places an order, `/debit` takes from a balance."""

import uuid
from typing import ClassVar

from django.db import connection, models, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from .web import Site

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
PRICE = 1


class Plan(models.Model):
    price = models.BigIntegerField()
    stock = models.BigIntegerField()

    objects: ClassVar[models.Manager["Plan"]] = models.Manager()

    class Meta:
        app_label = "floor"
        constraints = (models.CheckConstraint(condition=models.Q(stock__gte=0), name="floor_plan_stock"),)


class Sale(models.Model):
    public_id = models.UUIDField(default=uuid.uuid4, unique=True)
    customer = models.BigIntegerField(db_index=True)
    status = models.CharField(max_length=16, default="pending")
    total = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Sale"]] = models.Manager()

    class Meta:
        app_label = "floor"


class Line(models.Model):
    sale = models.ForeignKey(Sale, models.PROTECT)
    plan = models.ForeignKey(Plan, models.PROTECT)
    quantity = models.IntegerField()
    price = models.BigIntegerField()

    objects: ClassVar[models.Manager["Line"]] = models.Manager()

    class Meta:
        app_label = "floor"


class Purse(models.Model):
    balance = models.BigIntegerField()

    objects: ClassVar[models.Manager["Purse"]] = models.Manager()

    class Meta:
        app_label = "floor"
        constraints = (models.CheckConstraint(condition=models.Q(balance__gte=0), name="floor_purse_balance"),)


class Entry(models.Model):
    purse = models.ForeignKey(Purse, models.PROTECT)
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    reference = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Entry"]] = models.Manager()

    class Meta:
        app_label = "floor"


def floor(purses: int) -> Site:
    """Make the tables, one plan and so many purses, and return the site."""
    with connection.schema_editor() as editor:
        for model in (Plan, Sale, Line, Purse, Entry):
            editor.create_model(model)
    Plan.objects.create(price=PRICE, stock=10**9)
    Purse.objects.bulk_create(Purse(balance=10**9) for _ in range(purses))
    return Site({"MIDDLEWARE": MIDDLEWARE, "ROOT_URLCONF": __name__})


def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse("hello")


@csrf_exempt
def order(request: HttpRequest) -> HttpResponse:
    with transaction.atomic():
        plan = Plan.objects.select_for_update().get(pk=1)
        if plan.stock < 1:
            return JsonResponse({"error": "sold out"}, status=409)
        sale = Sale.objects.create(customer=1, total=plan.price)
        Line.objects.create(sale=sale, plan=plan, quantity=1, price=plan.price)
        Plan.objects.filter(pk=1).update(stock=models.F("stock") - 1)
    return JsonResponse({"id": str(sale.public_id)}, status=201)


@csrf_exempt
def debit(request: HttpRequest) -> HttpResponse:
    number = int(request.GET.get("purse", "1"))
    with transaction.atomic():
        purse = Purse.objects.filter(pk=number, balance__gte=PRICE)
        if not purse.update(balance=models.F("balance") - PRICE):
            return JsonResponse({"error": "no funds"}, status=402)
        balance = Purse.objects.values_list("balance", flat=True).get(pk=number)
        Entry.objects.create(purse_id=number, amount=-PRICE, balance_after=balance, reference="order")
    return JsonResponse({"balance": str(balance)}, status=201)


urlpatterns = [path("hello", hello), path("order", order), path("debit", debit)]
