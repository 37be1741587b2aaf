"""Keep every price sample."""

from collections.abc import Iterable

from ..models import RateSample
from ..rates import Quotation


def record_samples(source: str, quotations: Iterable[Quotation]) -> None:
    """Store what a source answered."""
    RateSample.objects.bulk_create(
        RateSample(source=source, symbol=q.symbol, price_e8=q.price_e8, source_at=q.at) for q in quotations
    )
