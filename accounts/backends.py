"""Who a session belongs to, looked up with kept words: every page of a signed-in person asks."""

from typing import Any, cast

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models import QuerySet

from events.statements import kept_row

from .models import User


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    def get_user(self, user_id: Any) -> User | None:
        user = user_with(user_id)
        return user if user and self.user_can_authenticate(cast(Any, user)) else None


@kept_row
def user_with(key: Any) -> QuerySet[User]:
    return User.objects.filter(pk=key)
