"""The settings of a site behind TLS satisfy Django's own list for deployment."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_check_deploy_is_clean(tmp_path: Path) -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "DEBUG", "DJANGO_ALLOW_ASYNC_UNSAFE")
    }
    environment = kept | {"DATA_DIR": str(tmp_path), "HTTPS": "1", "ALLOWED_HOSTS": "shop.example"}
    ended = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
