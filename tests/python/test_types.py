"""The stubs: mypy accepts the package with them, and they declare what the module has."""

import ast
import os
import pathlib
import subprocess
import sys

import pytest

import tutti
from tutti import _tutti

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "tutti"


def test_mypy_accepts_the_package(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--config-file", str(PACKAGE.parent / "pyproject.toml"),
                           "--cache-dir", os.environ.get("TUTTI_MYPY_CACHE", str(tmp_path)), str(PACKAGE)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_and_module_are_one():
    tree = ast.parse((PACKAGE / "_tutti.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            stub = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            real = {name for name in vars(getattr(_tutti, node.name)) if not name.startswith("_")}
            assert {name for name in stub if not name.startswith("_")} == real, node.name
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {name for name in vars(_tutti) if not name.startswith("_") and callable(getattr(_tutti, name))}
    assert functions == names - {"Topology", "Collective", "Schedule"}


def test_every_public_name_has_a_docstring():
    for name in tutti.__all__:
        assert name in ("Topology", "Collective", "Schedule") or getattr(tutti, name).__doc__, name
