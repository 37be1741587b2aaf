"""Who a session belongs to, looked up with kept words: every page of a signed-in person asks."""

from typing import Any, cast

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models import QuerySet

from events.statements import kept_query

from .models import User


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    def get_user(self, user_id: Any) -> User | None:
        found = users_with(key=user_id)
        return found[0] if found and self.user_can_authenticate(cast(Any, found[0])) else None


@kept_query
def users_with(*, key: Any) -> QuerySet[User]:
    return User.objects.filter(pk=key)
