"""Every write to accounts, one module per kind of work.

Events of an account stand in the thread of its user row. They hold no personal data: they outlive the account.
"""
