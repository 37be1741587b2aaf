"""Who did what, when and why (OPS-2): one log over all that keeps such rows. `groups.py` says which kinds of events are
in it and their words, `asking.py` what may be asked, `sources.py` where rows come from, `entries.py` how they read."""
