"""The usual prepared answers, in every language that customers read."""

import json
from collections.abc import Iterator
from pathlib import Path

from .models import CannedText

FILE = Path(__file__).parent / "data" / "canned_texts.json"


def canned_texts() -> Iterator[CannedText]:
    """Yield the prepared answers of the file, not saved."""
    for language, texts in json.loads(FILE.read_text(encoding="utf-8")).items():
        for place, (title, body) in enumerate(texts):
            yield CannedText(language=language, title=title, body=body, position=place)
