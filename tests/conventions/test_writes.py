"""How rows are written: named columns only, and no arithmetic that SQLite gets wrong."""

import ast

from django.apps import apps

from money.fields import BaseUnitsField

DIALOGUES = {"form", "formset", "super()"}  # Django's forms write what they were shown


def test_no_bare_save(modules: dict[str, ast.Module]) -> None:
    """A `.save()` names its columns or creates: a bare one writes back what another process has changed meanwhile."""
    wrong = [
        f"{path}:{call.lineno}: {ast.unparse(call)}"
        for path, tree in modules.items()
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "save"
        and ast.unparse(call.func.value) not in DIALOGUES
        and not {"update_fields", "force_insert"} & {keyword.arg for keyword in call.keywords}
    ]
    assert not wrong


def test_no_expression_on_base_units(modules: dict[str, ast.Module]) -> None:
    """Base units are text on SQLite: `F()` on them compares and adds wrongly there, without an error. Sum in Python."""
    every = {field.name for model in apps.get_models() for field in model._meta.concrete_fields}
    plain = {
        field.name
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if not isinstance(field, BaseUnitsField)
    }
    base_units = every - plain
    assert base_units
    wrong = [
        f"{path}:{call.lineno}: {ast.unparse(call)}"
        for path, tree in modules.items()
        for call in calls(tree)
        if ast.unparse(call.func) in ("F", "models.F")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and str(call.args[0].value).rpartition("__")[2] in base_units
    ]
    assert not wrong


def calls(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
