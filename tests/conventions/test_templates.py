"""Templates keep to the strict content security policy, and each one is used."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.utils import get_app_template_dirs

INLINE = {
    "style attribute": re.compile(r"\sstyle\s*=", re.I),
    "style element": re.compile(r"<style\b", re.I),
    "script without a file": re.compile(r"<script\b(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")", re.I),
    "handler attribute": re.compile(r"<[^>]*\son[a-z]+\s*=\s*[\"']", re.I),
    "javascript address": re.compile(r"javascript:", re.I),
    "evaluated htmx attribute": re.compile(r"\bhx-on\b|\bhx-(?:vals|headers)=[\"']js:", re.I),
}
# Django and allauth find these by their name.
BY_STATUS = {"400.html", "403.html", "403_csrf.html", "404.html", "429.html", "500.html"}


@pytest.mark.parametrize("what", INLINE)
def test_nothing_inline(templates: dict[str, str], what: str) -> None:
    assert not [name for name, text in templates.items() if INLINE[what].search(text)]


def test_every_template_is_used(templates: dict[str, str]) -> None:
    """A template is named in a module or in another template, or replaces one of a library's."""
    root = Path(settings.BASE_DIR)
    code = "\n".join(
        path.read_text()
        for path in root.glob("*/**/*.py")
        if path.parts[len(root.parts)] not in (".venv", "tests", "var")
    )
    unused = []
    for name in templates:
        others = "\n".join(text for other, text in templates.items() if other != name)
        named = re.compile(rf"[\"']{re.escape(name)}[\"'#{{]")
        if name not in BY_STATUS and not named.search(code) and not named.search(others) and not replaces(name):
            unused.append(name)
    assert not unused


def replaces(name: str) -> bool:
    """Tell whether a library has a template of this name."""
    folders = (Path(folder) for folder in get_app_template_dirs("templates"))
    return any((folder / name).is_file() for folder in folders if "site-packages" in folder.parts)
