"""The pieces of the pages: what they must never do, whatever they look like."""

import re

import pytest
from django.conf import settings
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from config.gallery import ICONS
from config.templatetags.looks import address_groups


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=90))
def test_the_groups_of_an_address_are_the_address(address: str) -> None:
    groups = address_groups(address)
    assert "".join(group.text for group in groups) == address
    assert groups[0].strong and groups[-1].strong


def test_an_ethereum_address_keeps_its_prefix_and_shows_both_ends() -> None:
    groups = address_groups("0x52908400098527886E0F7030069857D2E4169EE7")
    assert (groups[0].text, groups[-1].text) == ("0x5290", "9EE7")
    assert [group.strong for group in groups[1:-1]] == [False] * 8


def test_icons_that_templates_name_are_in_the_sprite() -> None:
    sprite = (settings.BASE_DIR / "static" / "icons.svg").read_text()
    templates = (settings.BASE_DIR / "templates").rglob("*.html")
    named = {name for path in templates for name in re.findall(r'icon\.html" with name="(\w+)"', path.read_text())}
    assert named
    assert not [name for name in {*named, *ICONS} if f'<symbol id="{name}"' not in sprite]


def test_every_class_of_the_style_sheet_is_used() -> None:
    """By a template, a module or a script; htmx-request is set by htmx."""
    root = settings.BASE_DIR
    style = re.sub(r"/\*.*?\*/|url\([^)]*\)", "", (root / "static" / "css" / "app.css").read_text(), flags=re.DOTALL)
    files = [*root.glob("templates/**/*.html"), *root.glob("static/js/*.js"), *root.glob("[a-z]*/**/*.py")]
    words = {
        word
        for path in files
        if path.parts[len(root.parts)] not in ("tests", "var")
        for word in re.findall(r"[\w-]+", path.read_text())
    }
    assert not {name for name in re.findall(r"\.([a-z][\w-]*)", style)} - words - {"htmx-request"}


@pytest.mark.django_db
def test_the_page_of_all_components_works_for_a_stranger(client: Client) -> None:
    response = client.get("/components/")
    assert response.status_code == 200
    assert 'class="address"' in response.content.decode()
