#!/usr/bin/env python
"""Run Django's command line with Gridlot's settings."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a person's to put right: a sentence helps, a traceback does not
        sys.exit(f"The settings are wrong: {error}")
