"""Be a web process for a moment: load the application, ask for pages, print which chain libraries are loaded."""

import os
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

from config.wsgi import application  # noqa: E402  # the settings' name comes first
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from accounts.models import User  # noqa: E402
from orders.models import Order  # noqa: E402

HEAVY = ("web3", "eth_account", "tronpy", "solana", "solders", "bitcoinlib", "sqlalchemy", "coincurve")
