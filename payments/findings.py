"""What a check-up of the installation finds: a fact, what it means, what to do. Plain values, translated when shown."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from django.utils.translation import gettext

GOOD, ATTENTION, BAD = "good", "attention", "bad"
LEVELS = (GOOD, ATTENTION, BAD)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `area` and the three texts are untranslated messages, with `facts` for their placeholders.

    A worker finds it in no language in particular and the page shows it in the reader's, so it is kept untranslated.
    """

    area: str
    level: str
    fact: str
    means: str = ""
    advice: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        return cls(*(row[name] for name in ("area", "level", "fact", "means", "advice", "facts")))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def title(self) -> str:
        return self.say(self.area)

    @property
    def found(self) -> str:
        return self.say(self.fact)

    @property
    def meaning(self) -> str:
        return self.say(self.means)

    @property
    def to_do(self) -> str:
        return self.say(self.advice)

    @property
    def addresses(self) -> list[list[Any]]:
        """Rows of index, path and address to compare with a wallet, where the finding is about them."""
        return list(self.facts.get("addresses", ()))

    def say(self, text: str) -> str:
        """Write one of the texts in the active language."""
        return gettext(text) % self.facts if text else ""


def worst(findings: list[Finding]) -> str:
    """Return the level that all of them have together."""
    return max((finding.level for finding in findings), key=LEVELS.index, default=GOOD)


def by_area(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return the findings under the titles of their areas, in the order in which these come first."""
    areas: dict[str, list[Finding]] = {}
    for finding in findings:
        areas.setdefault(finding.title, []).append(finding)
    return areas
