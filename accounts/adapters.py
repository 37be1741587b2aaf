"""What allauth asks of us: no mail, and no secret in plain text."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter

from . import sealed


class AccountAdapter(DefaultAccountAdapter):
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """This application sends no e-mail."""


class MFAAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return sealed.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return sealed.decrypt(encrypted_text)
