"""What came in and what we owe: `period.py` says when, `received.py` sums transfers, `files.py` writes."""
