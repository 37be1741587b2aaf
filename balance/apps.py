from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BalanceConfig(AppConfig):
    name = "balance"
    verbose_name = _("Balance")
