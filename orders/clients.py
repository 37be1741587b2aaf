"""Tell clients apart without keeping their addresses: a keyed mark of where an order came from (ORD-6)."""

import hashlib
import hmac
import ipaddress

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def client_mark(request: HttpRequest) -> str:
    """Return the mark of the client, or "" if its address says nothing about it.

    A private address is a proxy in front of us or a network of our own: a limit on it would meet everybody. Of an IPv6
    address the first 64 bits count, since one subscriber has all the rest.
    """
    try:
        address = ipaddress.ip_address(get_adapter().get_client_ip(request))
    except (PermissionDenied, ValueError):
        return ""
    if not address.is_global:
        return ""
    network = ipaddress.ip_network((address, 64 if address.version == 6 else 32), strict=False)
    return hmac.new(settings.SECRET_KEY.encode(), f"client {network}".encode(), hashlib.sha256).hexdigest()[:32]
