"""What the benchmarks share. Importing it sets Django up, so that a benchmark is a plain script."""

import django

django.setup()
