"""The pages of allauth that this application has, one by one: no reset and nothing about e-mail, as none is sent."""

from allauth.account import views as account
from django.urls import include, path

from .views import SignUpView

urlpatterns = [
    path("login/", account.login, name="account_login"),
    path("logout/", account.logout, name="account_logout"),
    path("signup/", SignUpView.as_view(), name="account_signup"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("reauthenticate/", account.reauthenticate, name="account_reauthenticate"),
    path("password/change/", account.password_change, name="account_change_password"),
    path("2fa/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
]
