"""The least Django that sells and pays: what a request costs before any product code.

It is the floor that the bounds were set with: Django's default middleware, a connection that is kept for two minutes
and asked before each use whether it lives, no session and no user. `/order` places an order, `/debit` takes from a
balance, `/status` reads one row by its key and answers it as JSON; `/own_status` does so too, but for session and user,
which it reads first as every page of a person must. It configures Django by itself, so it runs only in a process of its
own (`bench/kit/served.py`).
"""

import json
import os
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import ClassVar

import django
from django.conf import settings

PLANS = ACCOUNTS = 1000
SESSION = "floor" * 6 + "00"  # the key of the one session, in a cookie of Django's own name

settings.configure(
    DEBUG=False,
    SECRET_KEY="x" * 50,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
    ],
    DATABASES={
        "default": json.loads(os.environ["FLOOR_DATABASE"]) | {"CONN_MAX_AGE": 120, "CONN_HEALTH_CHECKS": True},
    },
    LOGGING_CONFIG=None,
)
django.setup()

# Nothing of Django loads before it is configured.
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.contrib.sessions.models import Session  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.http import HttpRequest, HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils import timezone  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402


class Plan(models.Model):
    name = models.CharField(max_length=80)
    family = models.CharField(max_length=40)
    price = models.DecimalField(max_digits=12, decimal_places=2)
    stock = models.IntegerField()
    gpus = models.IntegerField()
    vram = models.IntegerField()
    vcpu = models.IntegerField()
    ram = models.IntegerField()

    objects: ClassVar[models.Manager["Plan"]] = models.Manager()

    class Meta:
        app_label = "floor"
        constraints = (models.CheckConstraint(condition=models.Q(stock__gte=0), name="floor_plan_stock"),)


class Sale(models.Model):
    public_id = models.UUIDField(default=uuid.uuid4, unique=True)
    customer = models.BigIntegerField(db_index=True)
    status = models.CharField(max_length=16, default="pending")
    total = models.DecimalField(max_digits=12, decimal_places=2)
    created = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Sale"]] = models.Manager()

    class Meta:
        app_label = "floor"


class Line(models.Model):
    sale = models.ForeignKey(Sale, models.CASCADE)
    plan = models.ForeignKey(Plan, models.PROTECT)
    qty = models.IntegerField()
    price = models.DecimalField(max_digits=12, decimal_places=2)

    objects: ClassVar[models.Manager["Line"]] = models.Manager()

    class Meta:
        app_label = "floor"


class Account(models.Model):
    balance = models.DecimalField(max_digits=14, decimal_places=2)

    objects: ClassVar[models.Manager["Account"]] = models.Manager()

    class Meta:
        app_label = "floor"
        constraints = (models.CheckConstraint(condition=models.Q(balance__gte=0), name="floor_account_balance"),)


class Ledger(models.Model):
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.DecimalField(max_digits=14, decimal_places=2)
    balance_after = models.DecimalField(max_digits=14, decimal_places=2)
    ref = models.CharField(max_length=64)
    created = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Ledger"]] = models.Manager()

    class Meta:
        app_label = "floor"


def make_tables() -> None:
    """Make the tables with a thousand plans and accounts, and one user with a session. Those of sessions and groups are
    there: they are Gridlot's."""
    with connection.schema_editor() as editor:
        for model in (User, Plan, Sale, Line, Account, Ledger):
            editor.create_model(model)
    same = {"family": "family", "stock": 10**9, "gpus": 1, "vram": 80, "vcpu": 24, "ram": 200}
    Plan.objects.bulk_create(Plan(name=f"GPU plan {n}", price=10 + n, **same) for n in range(PLANS))
    Account.objects.bulk_create(Account(balance=10**9) for _ in range(ACCOUNTS))
    user = User.objects.create_user("ada")
    facts = {SESSION_KEY: str(user.pk), BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0]}
    data = SessionStore().encode(facts | {HASH_SESSION_KEY: user.get_session_auth_hash()})
    until = timezone.now() + timedelta(days=1)
    Session.objects.create(session_key=SESSION, session_data=data, expire_date=until)


def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse("hello world")


@csrf_exempt
def order(request: HttpRequest) -> HttpResponse:
    number = int(request.GET.get("plan", "1"))
    with transaction.atomic():
        plan = Plan.objects.select_for_update().get(pk=number)
        if plan.stock < 1:
            return JsonResponse({"error": "sold out"}, status=409)
        sale = Sale.objects.create(customer=1, total=plan.price)
        Line.objects.create(sale=sale, plan=plan, qty=1, price=plan.price)
        Plan.objects.filter(pk=number).update(stock=models.F("stock") - 1)
    return JsonResponse({"id": str(sale.public_id)}, status=201)


@csrf_exempt
def debit(request: HttpRequest) -> HttpResponse:
    number, amount = int(request.GET.get("acct", "1")), Decimal("1.00")
    with transaction.atomic():
        enough = Account.objects.filter(pk=number, balance__gte=amount)
        if not enough.update(balance=models.F("balance") - amount):
            return JsonResponse({"error": "no funds"}, status=402)
        balance = Account.objects.values_list("balance", flat=True).get(pk=number)
        Ledger.objects.create(account_id=number, amount=-amount, balance_after=balance, ref="order")
    return JsonResponse({"balance": str(balance)}, status=201)


def status(request: HttpRequest) -> HttpResponse:
    account = Account.objects.get(pk=int(request.GET.get("acct", "1")))
    return JsonResponse({"id": account.pk, "balance": str(account.balance)})


def own_status(request: HttpRequest) -> HttpResponse:
    return status(request) if request.user.is_authenticated else JsonResponse({"error": "sign in"}, status=403)


urlpatterns = [
    path("hello", hello),
    path("order", order),
    path("debit", debit),
    path("status", status),
    path("own_status", own_status),
]
application = get_wsgi_application()

if __name__ == "__main__":
    make_tables()
