"""What an API token may do: the whole table. A view names the scope it asks for."""

from django.utils.translation import gettext_lazy as _

ACCOUNT_READ = "account:read"

SCOPES = {ACCOUNT_READ: _("read who you are: names, email, language, time zone")}
