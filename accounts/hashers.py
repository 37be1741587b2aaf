from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's first choice, 19 MiB and one lane: Django's 100 MiB a sign-in starve a small machine."""

    time_cost = 2
    memory_cost = 19456
    parallelism = 1
