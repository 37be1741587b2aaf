"""Serve the WSGI application that a module calls `application`, with gunicorn's settings as JSON:
`python -m bench.servers.start MODULE SETTINGS`."""

import json
import sys
from importlib import import_module
from typing import Any

from gunicorn.app.base import BaseApplication


class Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, module: str, settings: dict[str, Any]) -> None:
        self.module, self.settings = module, settings
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return import_module(self.module).application


if __name__ == "__main__":
    Server(sys.argv[1], json.loads(sys.argv[2])).run()
