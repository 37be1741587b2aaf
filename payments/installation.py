"""An installation is born simulated or real, and stays so: demo money must never become spendable."""

from django.conf import settings

from .models import Installation


class NotThisKind(Exception):
    """The data was born as the other kind than the settings ask for."""

    def __init__(self, born: str, asked: str) -> None:
        super().__init__(
            f"The data in {settings.DATA_DIR} belong to a {born} installation, but NETWORKS={asked} asks for a {asked} "
            "one. Demo money must never become spendable: choose another DATA_DIR or database, "
            f"or start with NETWORKS={born}."
        )


def birth() -> Installation:
    """Record what this installation is, at its first start; NotThisKind if it was born as the other kind."""
    installation, _ = Installation.objects.get_or_create(pk=1, defaults={"kind": settings.NETWORKS_KIND})
    if installation.kind != settings.NETWORKS_KIND:
        raise NotThisKind(installation.kind, settings.NETWORKS_KIND)
    return installation
