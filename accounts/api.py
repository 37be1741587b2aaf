"""What a program may ask about the account it speaks for."""

from typing import Any, cast

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from .models import ApiToken, User
from .scopes import ACCOUNT_READ


class Me(APIView):
    """GET: who the token speaks for."""

    scope = ACCOUNT_READ

    def get(self, request: Request) -> Response:
        user = cast(User, request.user)
        facts: dict[str, Any] = {name: getattr(user, name) for name in ("email", "first_name", "last_name")}
        facts |= {"language": user.language, "time_zone": user.time_zone, "scopes": cast(ApiToken, request.auth).scopes}
        return Response(facts)
