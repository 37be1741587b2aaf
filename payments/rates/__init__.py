"""Where prices come from. Workers ask sources; pages read the kept samples.

`base.py` says what a source answers, `fixed.py` is the operator as a source, `public.py` holds the public ones,
`reading.py` reads their answers, `table.py` lists them all.
"""

from .base import Quotation, Source, Unpriced
from .fixed import FixedSource, fixed_prices
from .table import check_sources, sources

__all__ = ["FixedSource", "Quotation", "Source", "Unpriced", "check_sources", "fixed_prices", "sources"]
