"""Every address of the site."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import include, path

from accounts.views.person import language

from . import admin_home, closing, export, gallery, guests, health, home, legal


def password_page(request: HttpRequest, extra_context: object = None) -> Any:
    return redirect("account_change_password")


# User.email is the only address; factors are their owner's alone; the page of a session shows the key that opens it;
# what a role may do stands in config/roles.py, and the next migrate would undo what somebody changes by hand.
admin.site.unregister([EmailAddress, Authenticator, UserSession, Group])
# The admin's own form would skip the second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# One page changes a password: the one that ends the other sessions and tells the account's history.
admin.site.password_change = password_page  # type: ignore[method-assign]
# The first page is the work list; the records stand below it.
admin.site.index = admin_home.index  # type: ignore[method-assign]

urlpatterns = [
    path("", home.home, name="home"),
    path("gpus/", include("catalog.urls")),
    path("", include("orders.urls")),
    path("", include("conversations.urls")),
    path("", include("payments.urls")),
    path("", include("provisioning.urls")),
    path("balance/", include("balance.urls")),
    path("journal/", include("journal.urls")),
    path("support/", include("support.urls")),
    path("accounts/bring-along/", guests.bring_along, name="account_bring_along"),
    path("accounts/download/", export.download, name="account_export"),
    path("accounts/close/", closing.close, name="account_close"),
    path("accounts/", include("accounts.urls")),
    path("terms/", legal.terms, name="terms"),
    path("refunds/", legal.refunds, name="refunds"),
    path("privacy/", legal.privacy, name="privacy"),
    path("api/v1/", include("config.api")),
    path("components/", gallery.gallery, name="gallery"),
    path("i18n/setlang/", language, name="set_language"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
]
