"""Every write of payments, one module per kind of work.

Lock order everywhere: order, intent, hold, offer, payout, customer account. The order row comes first, because all
payment work of one order must take turns, and an intent's order never changes.
"""
