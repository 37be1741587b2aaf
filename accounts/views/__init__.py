"""The pages of an account: the way in, the person, the keys, the sessions."""
