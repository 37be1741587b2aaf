"""The time of a report: whole days of a time zone, from their first moment to their last."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
UNITS = ("day", "week", "month")


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included, in `zone`. `unit` says what they are: a day, a week from Monday,
    a month, or "range"."""

    first: date
    last: date
    zone: ZoneInfo
    unit: str = "range"

    @property
    def start(self) -> datetime:
        """The first moment, in UTC."""
        return midnight(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The first moment that is no longer in it, in UTC: days are 23 or 25 hours long when clocks change."""
        return midnight(self.last + DAY, self.zone)

    @property
    def earlier(self) -> "Period":
        if self.unit in UNITS:
            return whole(self.unit, self.first - DAY, self.zone)
        return Period(self.first - self.length, self.first - DAY, self.zone)

    @property
    def later(self) -> "Period":
        if self.unit in UNITS:
            return whole(self.unit, self.last + DAY, self.zone)
        return Period(self.last + DAY, self.last + self.length, self.zone)

    @property
    def length(self) -> timedelta:
        return self.last - self.first + DAY

    def __str__(self) -> str:
        return self.first.isoformat() if self.first == self.last else f"{self.first}_{self.last}"


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the moment at which a day begins. One whose midnight is left out by the clock begins right after it; of a
    midnight that comes twice the first one counts."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def whole(unit: str, day: date, zone: ZoneInfo) -> Period:
    """Return the day, the week or the month that holds a day."""
    if unit == "week":
        first = day - timedelta(days=day.weekday())
        return Period(first, first + timedelta(days=6), zone, unit)
    if unit == "month":
        first = day.replace(day=1)
        return Period(first, (first + timedelta(days=32)).replace(day=1) - DAY, zone, unit)
    return Period(day, day, zone, "day")
