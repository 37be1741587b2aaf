"""The catalogs are complete, carry every text of the source, and are compiled."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils.translation.template import templatize

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
PLURALS = {"ru": 4, "pl": 4, "vi": 1}
PLACEHOLDERS = re.compile(r"%\(\w+\)[sd]|\{\w*\}")
MARKERS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
IN_CONTEXT = {"pgettext", "pgettext_lazy", "npgettext", "npgettext_lazy"}


def catalog(code: str) -> Path:
    return Path(settings.BASE_DIR) / "locale" / code / "LC_MESSAGES" / "django.po"


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_message_is_translated(code: str) -> None:
    entries = polib.pofile(str(catalog(code)))
    assert not [entry.msgid for entry in entries.untranslated_entries() + entries.fuzzy_entries()]
    for entry in entries:
        texts = list(entry.msgstr_plural.values()) or [entry.msgstr]
        assert len(texts) == (PLURALS[code] if entry.msgid_plural else 1), entry.msgid
        for text in texts:
            found = set(PLACEHOLDERS.findall(text))
            assert found in ({*PLACEHOLDERS.findall(entry.msgid)}, {*PLACEHOLDERS.findall(entry.msgid_plural)}), text


@pytest.mark.parametrize("code", LANGUAGES)
def test_compiled_is_what_is_written(code: str) -> None:
    written = {message(entry) for entry in polib.pofile(str(catalog(code)))}
    compiled = {message(entry) for entry in polib.mofile(str(catalog(code).with_suffix(".mo")))}
    assert compiled == written, "run ./run compilemessages"


@pytest.mark.parametrize("code", LANGUAGES)
def test_catalog_has_the_texts_of_the_source(
    code: str, modules: dict[str, ast.Module], templates: dict[str, str]
) -> None:
    """A text marked in the source and unknown to the catalog would silently stay English."""
    known = {(entry.msgctxt or "", entry.msgid) for entry in polib.pofile(str(catalog(code)))}
    marked = {found for tree in modules.values() for found in marked_in(tree)}
    for name, text in templates.items():
        if name.endswith((".html", ".txt")):
            marked |= set(marked_in_template(text, name))
    assert not sorted(marked - known), "run ./run makemessages"


def message(entry: polib.POEntry) -> tuple[object, ...]:
    return entry.msgctxt or "", entry.msgid, entry.msgstr, tuple(sorted(entry.msgstr_plural.items()))


def marked_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield context and text of each call of a translation function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if name in MARKERS and texts:
            yield "", texts[0]
        elif name in IN_CONTEXT and len(texts) > 1:
            yield texts[0], texts[1]


def marked_in_template(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the same of a template, from what Django itself hands to gettext."""
    literal = (
        r"\(\s*(u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))(?:\s*,\s*(u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")))?"
    )
    for function, first, second in re.findall(
        rf"\b(_|gettext|ngettext|pgettext|npgettext){literal}", templatize(text, name)
    ):
        strings = [ast.literal_eval(string) for string in (first, second) if string]
        if function.endswith("pgettext"):
            yield strings[0], strings[1]
        else:
            yield "", strings[0]
