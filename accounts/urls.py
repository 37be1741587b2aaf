"""The pages of an account, one by one: allauth's and ours. No reset and nothing to confirm by e-mail: none is sent."""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as spare_codes
from allauth.mfa.webauthn import views as passkeys
from django.urls import path

from .views import entrance, keys, person

urlpatterns = [
    path("", person.overview, name="account"),
    path("login/", entrance.SignInView.as_view(), name="account_login"),
    path("login/code/", entrance.SignInWithCodeView.as_view(), name="account_login_with_code"),
    path("logout/", account.logout, name="account_logout"),
    path("signup/", entrance.SignUpView.as_view(), name="account_signup"),
    path("recover/", entrance.recover, name="account_recover"),
    path("inactive/", account.account_inactive, name="account_inactive"),
    path("reauthenticate/", entrance.PasswordAgainView.as_view(), name="account_reauthenticate"),
    path("profile/", person.profile, name="account_profile"),
    path("address/", person.email, name="account_change_email"),
    path("password/change/", account.password_change, name="account_change_password"),
    path("terms/", person.terms_accepted, name="account_terms"),
    path("recovery/cancel/", person.cancel_recovery, name="account_cancel_recovery"),
    path("recovery-codes/", keys.recovery_codes, name="account_recovery_codes"),
    path("tokens/", keys.api_tokens, name="account_tokens"),
    path("tokens/new/", keys.new_token, name="account_new_token"),
    path("tokens/<int:token_id>/revoke/", keys.revoke_token, name="account_revoke_token"),
    path("sessions/", keys.SessionsView.as_view(), name="usersessions_list"),
    path("sessions/<int:session_id>/end/", keys.end_session, name="account_end_session"),
    path("2fa/", factors.index, name="mfa_index"),
    path("2fa/needed/", keys.factor_needed, name="account_factor_needed"),
    path("2fa/authenticate/", factors.authenticate, name="mfa_authenticate"),
    path("2fa/reauthenticate/", entrance.CodeAgainView.as_view(), name="mfa_reauthenticate"),
    path("2fa/totp/activate/", keys.AddTOTPView.as_view(), name="mfa_activate_totp"),
    path("2fa/totp/deactivate/", keys.RemoveTOTPView.as_view(), name="mfa_deactivate_totp"),
    path("2fa/recovery-codes/", spare_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("2fa/recovery-codes/generate/", spare_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("2fa/recovery-codes/download/", spare_codes.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("2fa/webauthn/", passkeys.list_webauthn, name="mfa_list_webauthn"),
    path("2fa/webauthn/add/", keys.AddPasskeyView.as_view(), name="mfa_add_webauthn"),
    path("2fa/webauthn/login/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("2fa/webauthn/reauthenticate/", entrance.PasskeyAgainView.as_view(), name="mfa_reauthenticate_webauthn"),
    path("2fa/webauthn/keys/<int:pk>/remove/", keys.RemovePasskeyView.as_view(), name="mfa_remove_webauthn"),
    path("2fa/webauthn/keys/<int:pk>/edit/", passkeys.edit_webauthn, name="mfa_edit_webauthn"),
]
