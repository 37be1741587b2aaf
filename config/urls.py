"""Every address of the site."""

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.urls import include, path

from . import gallery, health, home

# User.email is the only address; factors are their owner's alone; the page of a session shows the key that opens it.
admin.site.unregister([EmailAddress, Authenticator, UserSession])
# The admin's own form would skip the second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", home.home, name="home"),
    path("gpus/", include("catalog.urls")),
    path("", include("orders.urls")),
    path("", include("payments.urls")),
    path("", include("provisioning.urls")),
    path("balance/", include("balance.urls")),
    path("journal/", include("journal.urls")),
    path("accounts/", include("accounts.urls")),
    path("components/", gallery.gallery, name="gallery"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
]
