"""Access information: what a customer needs to reach the machine. Kept as one encrypted text."""

import json
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach the machine; empty fields were not given."""

    ssh_host: str = ""
    ssh_port: str = ""
    ssh_user: str = ""
    key_fingerprint: str = ""
    notebook_url: str = ""
    notes: str = ""

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def any(self) -> bool:
        return any(asdict(self).values())


def load(text: str) -> Access:
    """Return what `dump` wrote; fields that are not known here are left out."""
    known = {field.name for field in fields(Access)}
    return Access(**{name: value for name, value in json.loads(text or "{}").items() if name in known})
