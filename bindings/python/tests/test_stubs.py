"""The type stubs name what the module has."""

import ast
import inspect
from pathlib import Path

import pytest

import streamflow as sf
import streamflow.demo

FOLDER = Path(sf.__file__).parent


def named(tree):
    """The public names that a class or a module of the stubs defines, assignments and imports aside."""
    defined = (ast.ClassDef, ast.FunctionDef)
    names = {node.name for node in tree.body if isinstance(node, defined)}
    names |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", [sf, streamflow.demo])
def test_the_stubs_name_what_there_is(module):
    stub = FOLDER / ("__init__.pyi" if module is sf else "demo.pyi")
    tree = ast.parse(stub.read_text())
    assert named(tree) == set(module.__all__)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found = getattr(module, node.name)
            assert inspect.isclass(found)
            members = {name for name in vars(found) if not name.startswith("_")}
            assert members == named(node), node.name
